//! The facts that inputs bring by themselves, for single objects, and the memory of refusals.

use std::sync::Arc;

use serde_json::{Value, json};

use super::plan::{Job, Owner, Plan, WriteId, dressed};
use super::sentences::remedy;
use super::whose::{Ownership, disowned};
use super::{Failure, Name, Observing};
use crate::cluster::index::IndexKey;
use crate::cluster::outcome::freed;
use crate::lifecycle::observation::Slot;
use crate::lifecycle::{Built, Kind, Stored};
use crate::machine::compare::{
    Comparison, Ours, compare, fingerprint, intruder, stranger, under_our_paths,
};
use crate::machine::ir::{Mode, Source, Verb};
use crate::machine::verdict::Verdict;

/// Verdict on an input, and its sentence.
pub(super) type InputAnswer = (Verdict, String);

impl Observing<'_> {
    pub(super) fn ask_input(&mut self, number: usize) -> Result<InputAnswer, Failure> {
        let input = &self.ir.inputs[number];
        match (input.mode, input.many) {
            // A clock brings no fact.
            (Mode::Watched | Mode::Noted | Mode::Clock, _) => Ok(self.ask_watched(number)),
            (Mode::Poll | Mode::Probe, _) => Ok(self.ask_poll(number)),
            (Mode::Record, _) => Ok(self.ask_record(number)),
            (Mode::Owned, true) if input.noted.is_some() => self.ask_created_set(number),
            (Mode::Owned, false) if input.noted.is_some() => self.ask_created(number),
            (Mode::Owned | Mode::Shared, true) => self.ask_set(number),
            (Mode::Group, _) => self.ask_group(number),
            (Mode::Owned, _) if !self.is_wanted(number) => Ok(self.ask_optional(number)),
            (Mode::Owned | Mode::Shared | Mode::Part, _) => self.ask_written(number),
        }
    }

    /// Returns the value of a built-in fact before its verdict. An existing object counts as
    /// different.
    pub(super) fn standing(&self, number: usize) -> Verdict {
        let input = &self.ir.inputs[number];
        let first = self.observation.objects(number).first();
        match (input.mode, first) {
            (Mode::Watched | Mode::Noted | Mode::Clock, _) => self.ask_watched(number).0,
            (Mode::Poll | Mode::Probe, _) => self.ask_poll(number).0,
            (Mode::Record, _) => match self.observation.slot(number) {
                Slot::Recorded { .. } => Verdict::Stale,
                Slot::Plain(_) | Slot::Closed | Slot::Objects(_) => Verdict::Absent,
            },
            (Mode::Owned | Mode::Shared, _) if input.many => Verdict::Behind,
            (Mode::Group, _) => Verdict::Behind,
            (Mode::Owned, _) if !self.is_wanted(number) => self.standing_unwanted(number),
            (Mode::Owned | Mode::Shared | Mode::Part, None) => Verdict::Absent,
            (Mode::Owned, Some(live)) if input.noted.is_some() => self.creation_state(number, live),
            (Mode::Owned, Some(live)) if self.ownership(number, live) != Ownership::Ours => {
                match self.ownership(number, live) {
                    Ownership::Nobodys => Verdict::Adoptable,
                    Ownership::Ours | Ownership::Others => Verdict::Foreign,
                }
            }
            (Mode::Owned | Mode::Shared, Some(live)) if live.meta.deletion_timestamp.is_some() => {
                Verdict::Terminating
            }
            (Mode::Owned | Mode::Shared | Mode::Part, Some(_)) => Verdict::Stale,
        }
    }

    /// Returns the effect that builds an input, and its result. This is the first permitted one, or
    /// else the first whose builder can run.
    pub(super) fn built(&self, number: usize, each: bool) -> Option<(usize, Built)> {
        let builds = |effect: &usize| {
            let effect = &self.ir.effects[*effect];
            let makes = matches!(effect.verb, Verb::Apply | Verb::Create);
            makes && (effect.target, effect.each) == (number, each)
        };
        let mut effects = (0..self.ir.effects.len()).filter(builds).peekable();
        let mut able = None;
        while let Some(effect) = effects.next() {
            let Some(built) = self.observer.machine.build(&self.observation, effect) else {
                continue;
            };
            let when = self.ir.effects[effect].when.as_ref();
            let alone = able.is_none() && effects.peek().is_none();
            if alone || when.is_none_or(|when| self.observation.world.holds(when)) {
                return Some((effect, built));
            }
            able = able.or(Some((effect, built)));
        }
        able
    }

    fn ask_watched(&self, number: usize) -> InputAnswer {
        if !self.observation.objects(number).is_empty() {
            return (Verdict::Present, String::new());
        }
        match self.sought(number) {
            Some(name) => (Verdict::Absent, self.say_missing(number, Some(&name))),
            None => (Verdict::Unnamed, self.say_missing(number, None)),
        }
    }

    fn ask_poll(&self, number: usize) -> InputAnswer {
        match self.observation.slot(number) {
            Slot::Plain(Some(_)) => (Verdict::Known, String::new()),
            Slot::Plain(None) | Slot::Closed | Slot::Objects(_) | Slot::Recorded { .. } => {
                let asked = self.polls.iter().find(|(input, _)| *input == number);
                let why = asked
                    .and_then(|(input, key)| self.observer.view.answer(*input, key).err())
                    .unwrap_or_else(|| {
                        format!("`{}` cannot be queried yet", self.ir.inputs[number].name)
                    });
                (Verdict::Unknown, why)
            }
        }
    }

    /// The name that an input is looked up by, where it is one.
    pub(super) fn sought(&self, number: usize) -> Option<Name> {
        self.dependencies[number].iter().find_map(|key| match key {
            IndexKey::Named(name) => Some(name.clone()),
            IndexKey::Of(..) => None,
        })
    }

    /// Of a single object that we write, wholly or in part.
    fn ask_written(&mut self, number: usize) -> Result<InputAnswer, Failure> {
        let live = self.observation.objects(number).first().cloned();
        let found = live.as_ref().map(|l| Name::from_meta(&l.meta));
        if let (Some(live), Some(name)) = (&live, &found) {
            let standing = self.standing(number);
            match standing {
                Verdict::Foreign => return Ok((standing, self.say_foreign(number, name))),
                Verdict::Adoptable => {
                    self.plan_adopt(number, name, live)?;
                    return Ok((standing, self.say_adoptable(number, name)));
                }
                Verdict::Terminating => return Ok((standing, self.say_terminating(number, name))),
                Verdict::Absent
                | Verdict::Unnamed
                | Verdict::Present
                | Verdict::Unknown
                | Verdict::Known
                | Verdict::Made
                | Verdict::Gone
                | Verdict::Stale
                | Verdict::New
                | Verdict::Behind
                | Verdict::Surplus
                | Verdict::Draining
                | Verdict::Current => self.plan_delete(number, name, live),
            }
        }
        let sought = found.or_else(|| self.sought(number));
        // A part is only written to objects that others create.
        let makes = live.is_some() || self.ir.inputs[number].mode != Mode::Part;
        let plan = match makes {
            true => self.plan_apply(number, sought.as_ref(), live.as_ref())?,
            false => None,
        };
        Ok(match (live, plan) {
            (None, plan) => {
                let missing = plan.map(|(plan, _)| plan.name).or(sought);
                let say = |name: Name| self.say_missing(number, Some(&name));
                (Verdict::Absent, missing.map(say).unwrap_or_default())
            }
            (Some(_), None) => (Verdict::Stale, String::new()),
            (Some(_), Some((_, Comparison::Current))) => (Verdict::Current, String::new()),
            (Some(_), Some((plan, comparison))) => (
                Verdict::Stale,
                self.say_differs(number, &plan.name, &comparison),
            ),
        })
    }

    /// Plans the effect that applies an input, if its builder can run.
    fn plan_apply(
        &mut self,
        number: usize,
        sought: Option<&Name>,
        live: Option<&Arc<Stored>>,
    ) -> Result<Option<(Plan, Comparison)>, Failure> {
        let Some((effect, Built::One(built))) = self.built(number, false) else {
            return Ok(None);
        };
        let name = self.named(effect, number, sought, &built)?;
        let (mut plan, comparison) = self.plan_member(number, &name, built, live);
        self.touched.insert((number, name));
        let ir = self.ir;
        let reads_it = |source: &Source| match source {
            Source::Input(input) => *input == number,
            Source::Value(value) => ir.keeps(number, *value),
            Source::This | Source::Request | Source::Fact(_) => false,
        };
        if plan.job == Job::Update && ir.effects[effect].from.iter().any(reads_it) {
            plan.job = Job::Revise;
        }
        self.name_what_is_made(effect, &mut plan);
        if comparison != Comparison::Current {
            self.plans[effect].push(plan.clone());
        }
        Ok(Some((plan, comparison)))
    }

    /// Sets the identity of a write whose values were made in this reconcile. The sources of such a
    /// value identify the write, because the value itself may differ each time.
    pub(super) fn name_what_is_made(&self, effect: usize, plan: &mut Plan) {
        let is_made = |source: &Source| match source {
            Source::Value(value) => self.observation.is_made(*value),
            Source::Input(_) | Source::This | Source::Request | Source::Fact(_) => false,
        };
        if self.ir.effects[effect].from.iter().any(is_made) {
            plan.id.desired = fingerprint(&json!(["made", self.reads(effect)]));
        }
    }

    /// Compares the result of a builder with the existing object.
    pub(super) fn plan_member(
        &self,
        number: usize,
        name: &Name,
        built: Value,
        live: Option<&Arc<Stored>>,
    ) -> (Plan, Comparison) {
        let mode = self.ir.inputs[number].mode;
        let owner = (mode != Mode::Part).then(|| self.owner(number)).flatten();
        let kept = owner
            .as_ref()
            .and_then(|owner| self.desired_keeper(number, owner, live));
        let body = dressed(
            built,
            self.kind(number),
            name,
            (owner.as_ref(), kept.as_ref()),
        );
        let (manager, replaced) = self.manager(mode, live);
        let exclusive = self.ir.inputs[number].exclusive;
        let id = WriteId::new(&body, live.map(|l| &**l));
        let managers = (manager.as_str(), replaced.as_slice());
        let comparison = self.comparison(name, (&body, id.desired), live, managers, exclusive);
        let controls_no_more =
            |live: &Arc<Stored>| owner.as_ref().is_some_and(|o| o.controls_no_more(live));
        let comparison = match comparison {
            // An owner reference is one value, so managed fields do not show its surplus parts.
            Comparison::Current if live.is_some_and(controls_no_more) => Comparison::Surplus {
                at: "metadata.ownerReferences".to_owned(),
                migrate: false,
            },
            Comparison::Current
            | Comparison::Behind { .. }
            | Comparison::Taken { .. }
            | Comparison::Unowned { .. }
            | Comparison::Surplus { .. } => comparison,
        };
        let job = match (&comparison, live) {
            (_, None) => Job::Create,
            (Comparison::Surplus { migrate: true, .. }, _) => Job::Migrate,
            (
                Comparison::Current
                | Comparison::Behind { .. }
                | Comparison::Taken { .. }
                | Comparison::Unowned { .. }
                | Comparison::Surplus { .. },
                _,
            ) => Job::Update,
        };
        let plan = Plan {
            input: Some(number),
            name: name.clone(),
            job,
            body,
            live: live.cloned(),
            manager,
            replaced,
            exclusive,
            id,
            reads: 0,
        };
        match (&owner, live) {
            (Some(owner), Some(live)) if kept.is_some() => {
                disowned(owner, live, (plan, comparison))
            }
            (Some(_) | None, _) => (plan, comparison),
        }
    }

    fn comparison(
        &self,
        name: &Name,
        (body, desired): (&Value, u64),
        live: Option<&Arc<Stored>>,
        (manager, replaced): (&str, &[String]),
        exclusive: &[&str],
    ) -> Comparison {
        let missing = Comparison::Behind { at: String::new() };
        let Some((live, raw)) = live.and_then(|l| Some((l, l.raw.as_ref()?))) else {
            return missing;
        };
        let ours = Ours::for_manager(raw, manager, replaced, "");
        let wanted = fingerprint(&json!([desired, manager, replaced, exclusive]));
        // An apply would keep elements of others in such a list, and is refused if they conflict
        // with ours. Elements under operation `Update` that are as desired stay, so that replacing
        // another operator writes nothing.
        let compared = || {
            let comparison = compare(body, raw, &ours);
            let at = match comparison {
                Comparison::Current => stranger(raw, &ours, exclusive),
                Comparison::Behind { .. }
                | Comparison::Taken { .. }
                | Comparison::Unowned { .. }
                | Comparison::Surplus { .. } => intruder(raw, &ours, exclusive),
            };
            at.map_or(comparison, |at| Comparison::Surplus { at, migrate: true })
        };
        let comparison = live.compared.get_or_compare(wanted, compared);
        let uid = live.meta.uid.as_deref().unwrap_or_default();
        let kept = || fingerprint(&under_our_paths(body, raw, &ours));
        let view = self.observer.view;
        if comparison != Comparison::Current && view.is_settled(name, uid, desired, kept()) {
            return Comparison::Current;
        }
        comparison
    }

    pub(super) fn plan_delete(&mut self, number: usize, name: &Name, live: &Arc<Stored>) {
        let effects = self.ir.effects.iter().enumerate();
        let deletes = effects
            .filter(|(_, e)| e.verb == Verb::Delete && !e.each && e.target == number)
            .map(|(n, _)| n)
            .collect::<Vec<_>>();
        for effect in deletes {
            let plan = self.removal(number, name, live);
            self.plans[effect].push(plan);
        }
    }

    /// Deletes an object, or takes our share away where others have one too.
    pub(super) fn removal(&self, number: usize, name: &Name, live: &Arc<Stored>) -> Plan {
        let mode = self.ir.inputs[number].mode;
        let owners = live.meta.owner_references.iter().flatten();
        let job = match mode {
            Mode::Part => Job::Withdraw,
            Mode::Shared if owners.count() > 1 => Job::Withdraw,
            Mode::Shared
            | Mode::Owned
            | Mode::Watched
            | Mode::Record
            | Mode::Noted
            | Mode::Poll
            | Mode::Probe
            | Mode::Clock
            | Mode::Group => Job::Delete,
        };
        let body = dressed(json!({}), self.kind(number), name, (None, None));
        Plan {
            input: Some(number),
            name: name.clone(),
            job,
            id: WriteId::new(&Value::Null, Some(live)),
            body,
            live: Some(Arc::clone(live)),
            manager: self.manager(mode, Some(live)).0,
            replaced: Vec::new(),
            exclusive: &[],
            reads: 0,
        }
    }

    /// Returns the name of a built object: that of the lookup, or the builder's own if the lookup
    /// names none. For an object without a namespace, the builder decides the namespace.
    pub(super) fn named(
        &self,
        effect: usize,
        number: usize,
        sought: Option<&Name>,
        built: &Value,
    ) -> Result<Name, Failure> {
        let text = |key: &str| {
            let meta = built.get("metadata")?;
            meta.get(key)?.as_str().map(str::to_owned)
        };
        let (name, namespace) = (text("name"), text("namespace"));
        let namespaced = self.kind(number).namespaced;
        let expected = match sought {
            Some(sought) => sought.clone(),
            None => {
                let home = self.subject.meta.namespace.clone();
                Name {
                    namespace: home.or(namespace.clone()).filter(|_| namespaced),
                    name: name.clone().unwrap_or_default(),
                }
            }
        };
        let place = Name {
            namespace: namespace.clone().or(expected.namespace.clone()),
            ..expected.clone()
        };
        if !place.name.is_empty() {
            self.owner_is_near(number, &place)?;
            if namespaced && place.namespace.is_none() {
                return Err(self.without_namespace(effect, number, &place, sought.is_some()));
            }
        }
        let other_name = name.as_ref().is_some_and(|n| *n != expected.name);
        if other_name || place.namespace != expected.namespace || expected.name.is_empty() {
            return Err(Failure::OtherObject {
                effect: self.ir.effects[effect].name,
                expected: Box::new(self.reference(number, &expected)),
                built: match (name, namespace) {
                    (None, _) => "one without a name".to_owned(),
                    (Some(name), None) => format!("`{name}`"),
                    (Some(name), Some(namespace)) => format!("`{namespace}/{name}`"),
                },
            });
        }
        Ok(expected)
    }

    /// Checks that the owner is in the namespace of the object. The garbage collector treats an
    /// owner in another namespace as gone. A cluster-scoped owner may own objects anywhere.
    pub(super) fn owner_is_near(&self, number: usize, name: &Name) -> Result<(), Failure> {
        let input = &self.ir.inputs[number];
        let Some(owner) = self.owner(number).filter(|_| input.mode != Mode::Part) else {
            return Ok(());
        };
        let home = Name::from_meta(&owner.object.meta);
        match &home.namespace {
            Some(namespace) if home.namespace != name.namespace => Err(Failure::OwnerElsewhere {
                object: Box::new(self.reference(number, name)),
                input: input.name,
                owner: Box::new(home.of_kind(owner.kind)),
                namespace: namespace.clone(),
            }),
            Some(_) | None => Ok(()),
        }
    }

    fn without_namespace(
        &self,
        effect: usize,
        number: usize,
        name: &Name,
        sought: bool,
    ) -> Failure {
        let subject = self.observer.subject_kind;
        let subject = subject.map(|kind| {
            Name::from_meta(&self.subject.meta)
                .of_kind(kind)
                .to_string()
        });
        let input = self.ir.inputs[number].name;
        Failure::NoNamespace {
            effect: self.ir.effects[effect].name,
            object: Box::new(self.reference(number, name)),
            subject: subject.unwrap_or_else(|| "a volume".to_owned()),
            remedy: match sought {
                true => format!("name it in the reference of `{input}`"),
                false => "set `metadata.namespace`".to_owned(),
            },
        }
    }

    /// The memory of the last answer to exactly the write that this effect would make.
    pub(super) fn ask_refused(&mut self, effect: usize) -> (u8, String) {
        if self.ir.effects[effect].verb == Verb::Call {
            self.plan_call(effect);
        }
        let view = self.observer.view;
        let plans = &self.plans[effect];
        let sentence = |p: &Plan| {
            let refusal = view.refusal(effect, &p.id)?;
            // If another object blocks the write, the written content is not at fault.
            Some(match freed(&refusal) {
                Some(freed) => format!("{refusal}; {freed}"),
                None => refusal + &remedy(p),
            })
        };
        let sentences: Option<Vec<_>> = plans.iter().map(sentence).collect();
        match sentences.as_deref() {
            Some([first, ..]) => (1, first.clone()),
            Some([]) | None => (0, String::new()),
        }
    }

    fn plan_call(&mut self, effect: usize) {
        let declared = &self.ir.effects[effect];
        let subject = &self.subject;
        let Some(key) = self.observer.machine.key(&self.observation, effect) else {
            return;
        };
        let inputs = declared.from.iter().filter_map(|source| match source {
            Source::Input(input) => Some(self.versions(*input)),
            Source::This | Source::Request | Source::Value(_) | Source::Fact(_) => None,
        });
        let asked = json!([key, subject.meta.generation, inputs.collect::<Vec<_>>()]);
        let target = self.polls.iter().find(|(n, _)| *n == declared.target);
        let live = target.map(|(n, key)| self.observer.view.answer_version(*n, key));
        let plan = Plan {
            input: None,
            name: Name::from_meta(&subject.meta),
            job: Job::Call,
            id: WriteId {
                desired: fingerprint(&asked),
                uid: subject.meta.uid.clone(),
                version: live.map(|version| version.to_string()),
            },
            body: json!(key),
            live: None,
            manager: String::new(),
            replaced: Vec::new(),
            exclusive: &[],
            reads: 0,
        };
        self.plans[effect].push(plan);
    }

    /// Returns the owner of the objects that an input's builder makes.
    pub(super) fn owner(&self, number: usize) -> Option<Owner<'_>> {
        let input = &self.ir.inputs[number];
        let controller = input.controller;
        let (kind, object) = match input.owner {
            None => (self.observer.subject_kind?, &*self.subject),
            Some(owner) => (
                self.observer.kinds[owner].as_ref()?,
                self.observation.objects(owner).first()?.as_ref(),
            ),
        };
        Some(Owner {
            kind,
            object,
            controller,
            shares: input.mode == Mode::Shared,
        })
    }

    /// The kind of an input's objects, or that of the object itself.
    pub(super) fn kind(&self, number: usize) -> &Kind {
        let kind = self.observer.kinds[number].as_ref();
        kind.or(self.observer.subject_kind)
            .expect("each input has a kind, or is the object itself")
    }

    /// Several objects may contribute to one: then each has a manager of its own, or the last would take the others' fields away.
    pub(super) fn manager(&self, mode: Mode, live: Option<&Arc<Stored>>) -> (String, Vec<String>) {
        let naming = self.observer.naming;
        let own = || {
            let uid = self.subject.meta.uid.clone();
            naming.manager_of(&uid.unwrap_or_default())
        };
        match mode {
            Mode::Shared => {
                // Contributors of a call are volumes, which no owner reference names.
                let live = live.filter(|_| self.observer.call.is_none());
                (
                    own(),
                    live.map_or_else(Vec::new, |live| self.left_over(live)),
                )
            }
            Mode::Part => (own(), Vec::new()),
            Mode::Owned
            | Mode::Watched
            | Mode::Record
            | Mode::Noted
            | Mode::Poll
            | Mode::Probe
            | Mode::Clock
            | Mode::Group => (naming.manager.clone(), naming.replaced.clone()),
        }
    }

    /// Returns the managers of contributors that are no longer owners. These owners were deleted,
    /// and fields that only they wanted would stay forever.
    fn left_over(&self, live: &Stored) -> Vec<String> {
        let naming = self.observer.naming;
        let owners = live.meta.owner_references.iter().flatten();
        let present: Vec<String> = owners.map(|o| naming.manager_of(&o.uid)).collect();
        let stem = naming.manager_of("");
        let entries = live
            .raw
            .as_deref()
            .map(|raw| raw.pointer("/metadata/managedFields"));
        let entries = entries.flatten().and_then(Value::as_array);
        let managers = entries
            .into_iter()
            .flatten()
            .filter_map(|e| e["manager"].as_str());
        let gone = managers.filter(|m| m.starts_with(&stem) && !present.iter().any(|p| p == m));
        gone.map(str::to_owned).collect()
    }
}
