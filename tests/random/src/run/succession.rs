//! Upgrade of an operator while its object exists. The next version drops everything that the
//! previous version had, and declares it in `retired`. The leftovers are removed or kept as
//! declared, and nothing blocks the deletion of the object.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::Arc;

use lifecycle_client::kube::client_of;
use lifecycle_runtime::lifecycle::{
    Answer, Built, Calling, Kind, LookupKey, Machine, Observation, Once, Polling, Stored,
};
use lifecycle_runtime::machine::ir::{Lifecycle, Mode};
use lifecycle_runtime::operator::Operator;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_simulator::server::User;
use serde_json::Value;
use tokio::time::sleep;

use super::{ROUNDS, Run, SUBJECT, prepare};
use crate::declared::{Lookup, Path};
use crate::dice::Dice;
use crate::machine::{Interpreted, text_in};
use crate::reality::{keeper, owners, uid};
use crate::things;
use crate::watched::Line;

/// Interval of lifecycles with a successor: one in this many.
const SHARE: usize = 4;

/// Fate of the objects of an input that no longer exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Deleted,
    Released,
    Kept,
}

impl Fate {
    const ALL: [Self; 3] = [Self::Deleted, Self::Released, Self::Kept];

    fn name(self) -> &'static str {
        match self {
            Self::Deleted => "deleted",
            Self::Released => "released",
            Self::Kept => "kept",
        }
    }
}

/// An object that the version before left.
#[derive(Debug)]
struct Left {
    input: usize,
    name: String,
    uid: String,
    fate: Fate,
}

/// Next version, without a type: a fact of the object itself, and the retired inputs.
#[derive(Clone, Debug)]
struct Successor {
    inner: Interpreted,
    /// Inputs of the previous version that it retires and observes.
    inputs: Vec<usize>,
}

impl Machine for Successor {
    fn ir(&self) -> &'static Lifecycle {
        self.inner.ir
    }

    fn subject(&self) -> Option<Kind> {
        self.inner.subject()
    }

    fn kind(&self, input: usize) -> Option<Kind> {
        self.inputs.get(input).map(|input| things::kind(input + 1))
    }

    fn lookup(&self, observation: &Observation, input: usize) -> Option<LookupKey> {
        self.inner.lookup(observation, input)
    }

    fn theirs(&self, _: usize, _: &Stored) -> Option<String> {
        None
    }

    fn value(&self, _: &Observation, _: usize) -> Option<Arc<dyn Any + Send + Sync>> {
        None
    }

    fn fact(&self, observation: &Observation, var: usize) -> Option<Answer> {
        self.inner.fact(observation, var)
    }

    fn build(&self, _: &Observation, _: usize) -> Option<Built> {
        None
    }

    fn field(&self, _: &Observation, _: usize) -> Option<Value> {
        None
    }

    fn poll<'a>(&'a self, _: &'a Observation, _: usize) -> Option<Polling<'a>> {
        None
    }

    fn key(&self, _: &Observation, _: usize) -> Option<String> {
        None
    }

    fn call<'a>(&'a self, _: &'a Observation, _: usize, _: Once<'a>) -> Option<Calling<'a>> {
        None
    }
}

impl Run<'_> {
    /// Returns dice if the operator is upgraded at the end. The draw uses its own dice, so that all
    /// other draws stay as before.
    pub(super) fn succession(seed: u64) -> Option<Dice> {
        let mut dice = Dice::new(seed ^ 0x5355_4343);
        dice.one_in(SHARE).then_some(dice)
    }

    /// The next version runs in place of this one, and then the object is deleted.
    pub(super) async fn succeed(&mut self, mut dice: Dice) {
        self.stop();
        let Some(this) = self.cluster.get(0, SUBJECT) else {
            return;
        };
        let inputs = 0..self.machine.ir.inputs.len();
        // All are of one type there, so that two that are found alike would be one.
        let mut found = BTreeSet::new();
        let fates = inputs.filter_map(|input| {
            let line = self.line_of(input)?;
            let (_, how) = line.split_once(": ")?;
            if !found.insert(how.to_owned()) {
                return None;
            }
            // If others contribute to an object as well, there is nothing to release.
            let fates: &[Fate] = match self.machine.ir.inputs[input].mode {
                Mode::Owned => &Fate::ALL,
                _ => &[Fate::Deleted, Fate::Kept],
            };
            let fate = dice.pick(fates).copied()?;
            Some((input, fate, format!("{line} {};", fate.name())))
        });
        let fates: Vec<(usize, Fate, String)> = fates.collect();
        let left: Vec<Left> = fates
            .iter()
            .flat_map(|(input, fate, _)| self.left_of(*input, *fate, &this))
            .collect();
        let text = self.text_of_successor(&fates);
        let prepared =
            prepare(&text).unwrap_or_else(|| panic!("the next version is clean: {text}"));
        let looked_at = fates.iter().filter(|(_, fate, _)| *fate != Fate::Kept);
        let successor = Successor {
            inner: Interpreted {
                ir: prepared.ir,
                declared: prepared.declared,
                outside: self.machine.outside.clone(),
            },
            inputs: looked_at.map(|(input, ..)| *input).collect(),
        };
        self.log_line(|| text.clone());
        self.start_successor(successor);
        self.settle_successor().await;
        self.ran.succeeded += 1;
        self.ran.left_behind += left.len();
        if let Some(found) = self.still_there(&left).into_iter().next() {
            self.find(format!("left behind: {found}, after\n{text}"));
        }
        if self.is_over {
            return;
        }
        self.cluster.delete(0, SUBJECT, false);
        self.settle_successor().await;
        if self.cluster.get(0, SUBJECT).is_some() {
            self.find("left behind: the object is deleted and stays");
        }
    }

    /// Returns the `retired` entry of an input, if the next version can find its objects by the
    /// object alone.
    fn line_of(&self, input: usize) -> Option<String> {
        let declared = &self.machine.ir.inputs[input];
        let mode = match declared.mode {
            Mode::Owned => "owned",
            Mode::Shared => "shared",
            Mode::Part => "part",
            Mode::Watched
            | Mode::Record
            | Mode::Noted
            | Mode::Poll
            | Mode::Probe
            | Mode::Clock
            | Mode::Group => return None,
        };
        if declared.owner.is_some() {
            return None;
        }
        let lookup = match &self.machine.declared.lookups[input] {
            Lookup::Name(path) => format!("name {}", spelled(path)?),
            Lookup::Labels(pairs) => {
                let pair = |(key, path): &(String, Path)| {
                    Some(format!("{} = {}", key.to_uppercase(), spelled(path)?))
                };
                let pairs: Option<Vec<String>> = pairs.iter().map(pair).collect();
                format!("labels {{ {} }}", pairs?.join(", "))
            }
            _ => return None,
        };
        let ty = match declared.many {
            true => "[Relic]",
            false => "Relic",
        };
        Some(format!("{}: {mode} {ty} by {lookup}", declared.name))
    }

    /// The next version: it retires all that this one has.
    fn text_of_successor(&self, fates: &[(usize, Fate, String)]) -> String {
        let ir = self.machine.ir;
        let mut lines: Vec<String> = fates.iter().map(|(.., line)| line.clone()).collect();
        if ir.has_finalizer() {
            lines.push("finalizer;".to_owned());
        }
        let is_record = |mode| matches!(mode, Mode::Record | Mode::Noted);
        let records = ir.inputs.iter().filter(|i| is_record(i.mode));
        lines.extend(records.map(|record| format!("record {};", record.name)));
        let conditions = ir.conditions.iter();
        lines.extend(conditions.map(|one| format!("condition {};", one.name)));
        if ir.kstatus {
            lines.extend(["Reconciling", "Stalled"].map(|name| format!("condition {name};")));
        }
        lines.extend(
            ir.fields
                .iter()
                .map(|field| format!("field {};", field.name)),
        );
        let retired = match lines.is_empty() {
            true => String::new(),
            false => format!("retired {{ {} }}", lines.join(" ")),
        };
        format!(
            "lifecycle! {{
    resource Thing;
    facts {{ next_is_well: bool from self; }}
    states {{
        NextUnwell when !next_is_well => Error wakes self;
        goal NextWell when next_is_well => Ready;
    }}
    {retired}
    status {{
        condition NextFine {{ True when next_is_well; False \"NextUnwell\" otherwise; }}
        ready from NextFine;
    }}
}}"
        )
    }

    /// Returns the objects of an input that are ours now and that the next version finds.
    fn left_of(&self, input: usize, fate: Fate, this: &Value) -> Vec<Left> {
        let found = |object: &Value| match &self.machine.declared.lookups[input] {
            Lookup::Name(path) => {
                let name = object.pointer("/metadata/name").and_then(Value::as_str);
                name.is_some() && name == text_in(this, &path.parts).as_deref()
            }
            Lookup::Labels(pairs) => pairs.iter().all(|(key, path)| {
                let label = object
                    .pointer("/metadata/labels")
                    .and_then(|all| all[key].as_str());
                label.is_some() && label == text_in(this, &path.parts).as_deref()
            }),
            _ => false,
        };
        let objects = self.cluster.all(input + 1).into_iter();
        let ours = objects
            .filter(|object| found(object) && !is_going(object) && self.is_of(input, object, this));
        let left = ours.filter_map(|object| {
            Some(Left {
                input,
                name: object.pointer("/metadata/name")?.as_str()?.to_owned(),
                uid: uid(&object)?.to_owned(),
                fate,
            })
        });
        left.collect()
    }

    /// Returns true if an object of an input belongs to the object, or has a part of it.
    fn is_of(&self, input: usize, object: &Value, this: &Value) -> bool {
        let own = uid(this);
        match self.machine.ir.inputs[input].mode {
            Mode::Part => is_written_by(object, &self.naming.manager),
            Mode::Shared => owners(object).any(|(of, _)| Some(of) == own),
            Mode::Owned => {
                let keeps = keeper(object).is_some_and(|kept| kept["uid"].as_str() == own);
                let foreign = owners(object).any(|(of, controls)| Some(of) != own && controls);
                let owns = owners(object).any(|(of, controls)| Some(of) == own && controls);
                owns || keeps && !foreign
            }
            Mode::Watched
            | Mode::Record
            | Mode::Noted
            | Mode::Poll
            | Mode::Probe
            | Mode::Clock
            | Mode::Group => false,
        }
    }

    fn start_successor(&mut self, successor: Successor) {
        let machine = self.planted.running(Arc::new(successor));
        let client = self.planted.through(client_of(Line {
            watched: Arc::clone(&self.watched),
            server: self.cluster.0.service(&User::admin()),
        }));
        let operator = Operator::new("random.test")
            .run_shared(machine, self.naming.clone())
            .seed(1)
            .randomness(self.machine.outside.mint())
            .instance("random")
            .clock(self.cluster.0.clone());
        self.driver = Some(tokio::spawn(async move {
            let (_trigger, shutdown) = Shutdown::pair();
            let ended = operator.start(client, shutdown).await;
            ended.expect("the driver runs");
        }));
    }

    /// Waits until nothing is written any more.
    async fn settle_successor(&mut self) {
        for _ in 0..ROUNDS {
            let before = self.watched.wire().all;
            sleep(self.quiet).await;
            if self.watched.wire().all == before {
                self.watched.wire().writes.clear();
                return;
            }
        }
        self.find("left behind: no rest, it writes on and on");
    }

    /// Returns everything that the previous version left and that does not match its declared fate.
    fn still_there(&self, left: &[Left]) -> Vec<String> {
        let Some(this) = self.cluster.get(0, SUBJECT) else {
            return vec!["the object went".to_owned()];
        };
        let mut found = Vec::new();
        let finalizers = this
            .pointer("/metadata/finalizers")
            .and_then(Value::as_array);
        let mut finalizers = finalizers.into_iter().flatten();
        if finalizers.any(|one| one.as_str() == Some(&self.naming.finalizer)) {
            found.push("its finalizer".to_owned());
        }
        let annotations = this
            .pointer("/metadata/annotations")
            .and_then(Value::as_object);
        let prefix = format!("{}.", self.naming.records);
        let records = annotations.into_iter().flat_map(|all| all.keys());
        found.extend(
            records
                .filter(|key| key.starts_with(&prefix))
                .map(|key| format!("record `{key}`")),
        );
        let rows = this.pointer("/status/conditions").and_then(Value::as_array);
        let rows = rows
            .into_iter()
            .flatten()
            .filter_map(|row| row["type"].as_str());
        for condition in rows.filter(|name| !["NextFine", "Ready"].contains(name)) {
            found.push(format!("condition `{condition}`"));
        }
        for field in self.machine.ir.fields {
            if this["status"].get(field.name).is_some() {
                found.push(format!("field `{}`", field.name));
            }
        }
        found.extend(left.iter().filter_map(|one| self.astray(one, &this)));
        found
    }

    fn astray(&self, left: &Left, this: &Value) -> Option<String> {
        let all = self.cluster.all(left.input + 1).into_iter();
        let mut same = all.filter(|object| uid(object) == Some(&left.uid));
        let object = same.next();
        let is_ours = object
            .as_ref()
            .is_some_and(|object| self.is_of(left.input, object, this));
        let mode = self.machine.ir.inputs[left.input].mode;
        let why = match (left.fate, &object) {
            (Fate::Deleted, Some(object)) if mode == Mode::Owned && !is_going(object) => "is there",
            (Fate::Deleted, Some(object)) if is_ours && !is_going(object) => "has our part",
            (Fate::Deleted, _) => return None,
            (Fate::Released | Fate::Kept, None) => "is gone",
            (Fate::Released, Some(object))
                if owners(object).any(|(of, _)| Some(of) == uid(this)) =>
            {
                "goes with its owner"
            }
            (Fate::Kept, Some(_)) if !is_ours => "is not ours any more",
            (Fate::Released | Fate::Kept, Some(_)) => return None,
        };
        let name = &self.machine.ir.inputs[left.input].name;
        let (object, fate) = (&left.name, left.fate.name());
        Some(format!("`{object}` of `{name}`, which is {fate}, {why}"))
    }
}

/// A path of the object as it is declared; `None` where it is another object's.
fn spelled(path: &Path) -> Option<String> {
    let parts = path.parts.iter().map(|part| match part.as_str() {
        "metadata" => "meta",
        part => part,
    });
    let parts: Vec<&str> = parts.collect();
    path.input.is_none().then(|| parts.join("."))
}

fn is_going(object: &Value) -> bool {
    object.pointer("/metadata/deletionTimestamp").is_some()
}

/// Returns true if a field manager with this prefix applies the built part.
fn is_written_by(object: &Value, manager: &str) -> bool {
    let entries = object.pointer("/metadata/managedFields");
    let mut entries = entries.and_then(Value::as_array).into_iter().flatten();
    entries.any(|entry| {
        let by = entry["manager"].as_str().unwrap_or_default();
        entry["operation"] == "Apply"
            && by.starts_with(manager)
            && entry.pointer("/fieldsV1/f:spec/f:built").is_some()
    })
}
