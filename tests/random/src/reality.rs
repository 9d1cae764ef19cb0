//! Objects and answers at one moment, from which the oracle determines the world.

use std::sync::Arc;

use lifecycle_client::clock::Clock;
use lifecycle_oracle::meaning::truth::{Argument, Given, LookupResult, Member, Reality, Tie};
use lifecycle_runtime::lifecycle::kept_by::KEPT_BY;
use lifecycle_runtime::machine::ir::Mode;
use lifecycle_runtime::operator::Naming;
use serde_json::{Value, json};

use crate::author::{self, Document};
use crate::cluster::{Cluster, name};
use crate::declared::{Lookup, Path};
use crate::hours;
use crate::machine::{Interpreted, parts_of, text_in};

/// Cluster and environment around one object of the lifecycle.
pub struct Now<'a> {
    /// The cluster.
    pub cluster: &'a Cluster,
    /// Names, lookups and the systems that polls query.
    pub machine: &'a Interpreted,
    /// Of finalizer and annotations.
    pub naming: &'a Naming,
    /// The object.
    pub this: Document,
}

impl Now<'_> {
    fn input_index(&self, input: &str) -> usize {
        let inputs = &self.machine.declared.inputs;
        inputs
            .iter()
            .position(|name| name == input)
            .expect("the input is declared")
    }

    fn effect(&self, effect: &str) -> usize {
        let effects = self.machine.ir.effects.iter();
        effects
            .into_iter()
            .position(|e| e.name == effect)
            .expect("the effect is declared")
    }

    /// Returns the text at a path of the object, or of the object that an input finds.
    fn text_at(&self, path: &Path, from: &Given<Document>) -> Option<String> {
        let Some(input) = path.input else {
            return text_in(&self.this, &path.parts);
        };
        let name = &self.machine.declared.inputs[input];
        let seen = from
            .iter()
            .find(|(other, _)| other.split('.').next() == Some(name));
        match &seen?.1 {
            Argument::One(Some(document)) => text_in(document, &path.parts),
            _ => None,
        }
    }

    fn recorded(&self, input: &str) -> Option<Document> {
        let key = format!("{}.{input}", self.naming.records);
        let annotations = self.this.pointer("/metadata/annotations")?;
        let text: Value = serde_json::from_str(annotations.get(key)?.as_str()?).ok()?;
        Some(Arc::new(json!({ "record": text })))
    }

    /// Returns the key under which the environment keeps the answer to a poll.
    fn kept_under(&self, lookup: &Lookup) -> String {
        match lookup {
            Lookup::Of(other) if self.machine.ir.inputs[*other].mode == Mode::Record => {
                let record = self.recorded(&self.machine.declared.inputs[*other]);
                let text = record.and_then(|record| record["record"].as_str().map(str::to_owned));
                text.unwrap_or_default()
            }
            Lookup::Several(keys) => keys.iter().map(|key| self.kept_under(key)).collect(),
            _ => String::new(),
        }
    }

    fn polled(&self, input: usize) -> LookupResult<Document> {
        let input_name = &self.machine.declared.inputs[input];
        let key = self.kept_under(&self.machine.declared.lookups[input]);
        let outside = self.machine.outside.state();
        let answers = !outside.is_down(input_name);
        LookupResult {
            named: true,
            objects: answers
                .then(|| outside.content(input_name, &key))
                .into_iter()
                .collect(),
        }
    }
}

pub(crate) fn uid(object: &Value) -> Option<&str> {
    object.pointer("/metadata/uid")?.as_str()
}

impl Reality for Now<'_> {
    type Object = Document;

    fn standing(&self) -> (bool, bool) {
        let finalizers = self
            .this
            .pointer("/metadata/finalizers")
            .and_then(Value::as_array);
        let claimed = finalizers.is_some_and(|all| {
            all.iter()
                .any(|f| f.as_str() == Some(&self.naming.finalizer))
        });
        (self.is_leaving(&self.this), claimed)
    }

    fn find(&self, input: &str, from: &Given<Document>) -> LookupResult<Document> {
        let number = self.input_index(input);
        let declared = &self.machine.ir.inputs[number];
        let named = |objects: Vec<Document>| LookupResult {
            named: true,
            objects,
        };
        match declared.mode {
            Mode::Record => return named(self.recorded(input).into_iter().collect()),
            Mode::Poll | Mode::Probe => return self.polled(number),
            Mode::Clock => {
                let now = hours::document(self.machine.ir, self.cluster.0.now());
                return named(vec![Arc::new(now)]);
            }
            Mode::Noted => {
                let noted = json!({ "record": self.noted(input) });
                return named(vec![Arc::new(noted)]);
            }
            // It has no objects but those of its members.
            Mode::Group => return named(Vec::new()),
            Mode::Watched | Mode::Owned | Mode::Shared | Mode::Part => {}
        }
        let kind = number + 1;
        let by_name = |name: Option<String>| LookupResult {
            named: name.is_some(),
            objects: name
                .and_then(|name| self.cluster.get(kind, &name))
                .map(Arc::new)
                .into_iter()
                .collect(),
        };
        let all = |fits: &dyn Fn(&Value) -> bool| LookupResult {
            named: true,
            objects: self
                .cluster
                .all(kind)
                .into_iter()
                .filter(|o| fits(o))
                .map(Arc::new)
                .collect(),
        };
        match &self.machine.declared.lookups[number] {
            Lookup::Name(path) => by_name(self.text_at(path, from)),
            Lookup::Labels(pairs) => {
                let texts = pairs
                    .iter()
                    .map(|(key, path)| Some((key, self.text_at(path, from)?)));
                let Some(texts) = texts.collect::<Option<Vec<_>>>() else {
                    return all(&|_| false);
                };
                all(&|object| {
                    let label = |key: &str| {
                        object["metadata"]["labels"]
                            .get(key)
                            .and_then(Value::as_str)
                    };
                    texts.iter().all(|(key, text)| label(key) == Some(text))
                })
            }
            Lookup::Names(_) | Lookup::Refs(_) => {
                let names = author::names(&self.this, from);
                all(&|object| names.contains(name(object)))
            }
            Lookup::Ref(_) => {
                let missing = from
                    .iter()
                    .any(|(_, seen)| matches!(seen, Argument::One(None)));
                by_name((!missing).then(|| author::reference(input)))
            }
            Lookup::Equal(theirs, ours) => {
                let ours = self.text_at(ours, from);
                all(&|object| ours.is_some() && text_in(object, theirs) == ours)
            }
            Lookup::Owner => {
                all(&|object| owners(object).any(|(owner, _)| Some(owner) == uid(&self.this)))
            }
            Lookup::Of(_) | Lookup::At(_) | Lookup::Several(_) | Lookup::All => all(&|_| true),
        }
    }

    fn is_ours(&self, object: &Document, owner: Option<&Document>, kept: bool) -> bool {
        let owner = owner.unwrap_or(&self.this);
        let is_owner = |of: &str| Some(of) == uid(owner);
        let foreign = owners(object).any(|(of, controls)| !is_owner(of) && controls);
        let keeps = keeper(object).is_some_and(|kept| kept["uid"].as_str() == uid(owner));
        owners(object).any(|(of, controls)| is_owner(of) && controls) || kept && keeps && !foreign
    }

    fn is_nobodys(&self, object: &Document, owner: Option<&Document>) -> bool {
        let owner = owner.unwrap_or(&self.this);
        let strange = owners(object).any(|(of, _)| Some(of) != uid(owner));
        let kept = keeper(object);
        let namesake = |kept: &Value| {
            kept["name"] == owner["metadata"]["name"] && kept["kind"] == owner["kind"]
        };
        !strange && !self.is_leaving(object) && kept.as_ref().is_none_or(namesake)
    }

    fn is_tied(&self, object: &Document, owner: Option<&Document>, retained: bool) -> bool {
        let owner = owner.unwrap_or(&self.this);
        let owned = owners(object).any(|(of, _)| Some(of) == uid(owner));
        let kept = keeper(object).filter(|kept| kept["uid"].as_str() == uid(owner));
        let adopted = kept.as_ref().is_some_and(|kept| kept["adopted"] == true);
        let stays = retained || adopted;
        stays != owned && stays == kept.is_some()
    }

    fn is_asked_for(&self, input: &str) -> bool {
        let input = &self.machine.ir.inputs[self.input_index(input)];
        let path = input.only_if.map(parts_of);
        path.is_none_or(|path| text_in(&self.this, &path).is_some())
    }

    fn noted(&self, record: &str) -> Vec<String> {
        let noted = self.recorded(record);
        let names = noted.and_then(|noted| serde_json::from_value(noted["record"].clone()).ok());
        names.unwrap_or_default()
    }

    fn called(&self, object: &Document) -> String {
        name(object).to_owned()
    }

    fn sought(&self, input: &str, from: &Given<Document>) -> Option<String> {
        match &self.machine.declared.lookups[self.input_index(input)] {
            Lookup::Name(path) => self.text_at(path, from),
            Lookup::Ref(_) => {
                let missing = from
                    .iter()
                    .any(|(_, seen)| matches!(seen, Argument::One(None)));
                (!missing).then(|| author::reference(input))
            }
            Lookup::Labels(_)
            | Lookup::Names(_)
            | Lookup::Refs(_)
            | Lookup::Equal(..)
            | Lookup::Owner
            | Lookup::Of(_)
            | Lookup::At(_)
            | Lookup::Several(_)
            | Lookup::All => None,
        }
    }

    fn desired_names(&self, input: &str, from: &Given<Document>) -> Vec<String> {
        author::members(input, &self.this, from)
    }

    fn named(&self, input: &str, name: &str) -> Option<Document> {
        let live = self.cluster.get(self.input_index(input) + 1, name);
        live.map(Arc::new)
    }

    fn is_leaving(&self, object: &Document) -> bool {
        object.pointer("/metadata/deletionTimestamp").is_some()
    }

    fn answer(&self, fact: &str, held: bool, answers: &[String], from: &Given<Document>) -> usize {
        author::answer(fact, held, answers, &self.this, from)
    }

    fn is_wanted(&self, _: &str, member: &str, from: &Given<Document>) -> bool {
        author::wants(member, &self.this, from)
    }

    fn is_member_as_built(
        &self,
        effect: &str,
        member: &str,
        from: &Given<Document>,
        object: &Document,
    ) -> bool {
        let wanted = author::built(effect, member, &self.this, from, || u64::MAX);
        object.pointer("/spec/built") == Some(&wanted) && is_kept(object, "")
    }

    fn is_as_built(&self, effect: &str, from: &Given<Document>, object: &Document) -> bool {
        let declared = &self.machine.ir.effects[self.effect(effect)];
        let target = &self.machine.declared.inputs[declared.target];
        if self.machine.ir.inputs[declared.target].mode == Mode::Record {
            let wanted = author::recorded(effect, target, &self.this, from);
            return object["record"].as_str() == Some(&wanted);
        }
        // A newly minted value never equals the existing one.
        let wanted = author::built(effect, target, &self.this, from, || u64::MAX);
        object.pointer("/spec/built") == Some(&wanted) && is_kept(object, "")
    }

    fn members(
        &self,
        input: &str,
        built: Option<(&str, &Given<Document>)>,
        found: &[Document],
        tie: Tie<'_, Document>,
    ) -> Vec<Member> {
        let number = self.input_index(input);
        let owned = self.machine.ir.inputs[number].mode == Mode::Owned;
        let wanted = built
            .map(|(_, from)| author::members(input, &self.this, from))
            .unwrap_or_default();
        let ours = |object: &Document| {
            let shares = || {
                let owner = tie.owner.unwrap_or(&self.this);
                owners(object).any(|(of, _)| Some(of) == uid(owner))
            };
            self.is_ours(object, tie.owner, tie.retained.is_some()) || !owned && shares()
        };
        let tied = |object: &Document| {
            let retained = tie.retained;
            retained.is_none_or(|retained| self.is_tied(object, tie.owner, retained))
        };
        let mut all = Vec::new();
        for wanted in &wanted {
            let live = self.cluster.get(number + 1, wanted).map(Arc::new);
            let as_built = |live: &Document| {
                built.is_some_and(|(effect, from)| self.is_as_built(effect, from, live))
            };
            all.push(match live {
                None => Member::Behind,
                Some(live) if owned && !ours(&live) => Member::Foreign,
                Some(live) if self.is_leaving(&live) => Member::Draining,
                Some(live) if ours(&live) && tied(&live) && as_built(&live) => Member::Current,
                Some(_) => Member::Behind,
            });
        }
        for live in found
            .iter()
            .filter(|o| !wanted.iter().any(|w| w == name(o)) && ours(o))
        {
            all.push(if self.is_leaving(live) {
                Member::Draining
            } else {
                Member::Surplus
            });
        }
        all
    }
}

/// Returns true if the driver owns the built part, which it applies under a field manager with this
/// suffix. A part that others alone own is not as wanted, because they may change or drop it.
pub(crate) fn is_kept(object: &Value, manager: &str) -> bool {
    let entries = object.pointer("/metadata/managedFields");
    let mut entries = entries.and_then(Value::as_array).into_iter().flatten();
    entries.any(|entry| {
        let by = entry["manager"].as_str().unwrap_or_default();
        let has = entry.pointer("/fieldsV1/f:spec/f:built").is_some();
        has && entry["operation"] == "Apply" && by.ends_with(manager)
    })
}

/// Returns the keeper that an object names.
pub(crate) fn keeper(object: &Value) -> Option<Value> {
    let text = object
        .pointer("/metadata/annotations")?
        .get(KEPT_BY)?
        .as_str()?;
    Some(serde_json::from_str(text).unwrap_or_default())
}

/// Returns the uids of owners, and for each owner true if it is the controller.
pub(crate) fn owners(object: &Value) -> impl Iterator<Item = (&str, bool)> {
    let owners = object
        .pointer("/metadata/ownerReferences")
        .and_then(Value::as_array);
    owners.into_iter().flatten().filter_map(|owner| {
        let controls = owner["controller"].as_bool().unwrap_or_default();
        Some((owner.get("uid")?.as_str()?, controls))
    })
}
