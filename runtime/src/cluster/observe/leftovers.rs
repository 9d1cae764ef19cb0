//! Leftovers of an older version of the lifecycle on an object and around it, and the writes that
//! remove them. They are not part of the checked graph, because no fact reads them. Each write
//! reduces them.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::plan::{Job, Plan};
use super::{Name, Observing};
use crate::lifecycle::Stored;
use crate::machine::ir::{Leaves, Mode};

/// A write that takes something away.
#[derive(Clone, Debug)]
pub struct Leftover {
    /// Input of its object. `None` for the object of the lifecycle itself.
    pub(crate) input: Option<usize>,
    /// The uid of the object of the lifecycle.
    pub(crate) owner: Option<String>,
    pub(crate) plan: Plan,
}

impl Observing<'_> {
    /// Returns all leftovers in the order of their removal. After a failed reconciliation, only
    /// those that would block the object's deletion.
    pub(super) fn leftovers(&self, has_failed: bool) -> Vec<Leftover> {
        if self.observer.call.is_some() || !self.ir.retires() {
            return Vec::new();
        }
        let deleting = self.subject.meta.deletion_timestamp.is_some();
        let own = self.own(deleting, has_failed).into_iter();
        if deleting || has_failed {
            return own.collect();
        }
        own.chain(self.objects()).collect()
    }

    /// Returns the leftover on the object itself: one write for all of it.
    fn own(&self, deleting: bool, has_failed: bool) -> Option<Leftover> {
        let mut meta = Map::new();
        // During deletion, an older finalizer protects held resources until they are cleaned up.
        if !(deleting && self.ir.has_finalizer()) && (deleting || !has_failed) {
            let finalizers = self.without_retired_finalizers();
            meta.extend(finalizers.map(|all| ("finalizers".to_owned(), json!(all))));
        }
        if !deleting && !has_failed {
            let records = self.without_retired_records();
            meta.extend(records.map(|all| ("annotations".to_owned(), Value::Object(all))));
        }
        if meta.is_empty() {
            return None;
        }
        let kind = self.observer.subject_kind?;
        let body = json!({
            "apiVersion": kind.api_version(),
            "kind": kind.kind,
            "metadata": meta,
        });
        let plan = self.patching(None, &self.subject, (Job::Tidy, body));
        Some(self.left(None, plan))
    }

    /// Returns the desired finalizers if one of an older version is present. The current one
    /// replaces it in the same write.
    fn without_retired_finalizers(&self) -> Option<Vec<String>> {
        let ours = &self.observer.naming.finalizer;
        let retired = self.ir.retired_finalizers(ours);
        let there = self.subject.meta.finalizers.iter().flatten();
        let (gone, mut kept): (Vec<&String>, Vec<&String>) =
            there.partition(|name| retired.contains(name));
        if gone.is_empty() {
            return None;
        }
        if self.ir.has_finalizer() && !kept.contains(&ours) {
            kept.push(ours);
        }
        Some(kept.into_iter().cloned().collect())
    }

    /// Returns the annotations to remove, as null. Their content moves to the current name, unless
    /// that already has content.
    fn without_retired_records(&self) -> Option<Map<String, Value>> {
        let naming = self.observer.naming;
        let there = self.subject.meta.annotations.as_ref()?;
        let mut changed = Map::new();
        for (key, now) in self.ir.retired_records(|name| naming.annotation(name)) {
            let Some(text) = there.get(&key) else {
                continue;
            };
            let now = now.map(|now| naming.annotation(now));
            if let Some(now) = now.filter(|now| !there.contains_key(now)) {
                changed.entry(now).or_insert_with(|| json!(text));
            }
            changed.insert(key, Value::Null);
        }
        (!changed.is_empty()).then_some(changed)
    }

    /// Returns the objects of inputs that no longer exist. Objects that a current input writes are
    /// not among them.
    fn objects(&self) -> Vec<Leftover> {
        let mut all = Vec::new();
        for (number, leaves) in self.ir.retired_inputs() {
            for live in self.observation.objects(number) {
                let name = Name::from_meta(&live.meta);
                if !self.is_written(number, leaves, &name) {
                    let plan = self.leaving(number, leaves, (&name, live));
                    all.extend(plan.map(|plan| self.left(Some(number), plan)));
                }
            }
        }
        all
    }

    /// Returns true if the object is still written. The owner reference is removed even from an
    /// object that is now only written in part.
    fn is_written(&self, number: usize, leaves: Leaves, name: &Name) -> bool {
        let mut touched = self.touched.iter();
        touched.any(|(other, of_other)| {
            let input = &self.ir.inputs[*other];
            let writes = match leaves {
                Leaves::Deleted => matches!(input.mode, Mode::Owned | Mode::Shared | Mode::Part),
                Leaves::Released => matches!(input.mode, Mode::Owned | Mode::Shared),
            };
            let is_same = of_other == name && writes && input.retired.is_none();
            is_same && self.kind(*other).shares_cache(self.kind(number))
        })
    }

    fn leaving(
        &self,
        number: usize,
        leaves: Leaves,
        (name, live): (&Name, &Arc<Stored>),
    ) -> Option<Plan> {
        let mode = self.ir.inputs[number].mode;
        let owner = self.owner(number)?;
        let owners = || live.meta.owner_references.iter().flatten();
        let refers = owners().any(|one| one.uid == owner.uid());
        let is_ours = match mode {
            Mode::Owned => self.is_ours(number, live),
            Mode::Shared => refers,
            Mode::Part => self.has_a_part(number, live),
            Mode::Watched
            | Mode::Record
            | Mode::Noted
            | Mode::Poll
            | Mode::Probe
            | Mode::Clock
            | Mode::Group => false,
        };
        let goes = live.meta.deletion_timestamp.is_some() && mode != Mode::Part;
        if !is_ours || goes {
            return None;
        }
        match leaves {
            Leaves::Deleted => Some(self.removal(number, name, live)),
            Leaves::Released if refers => {
                let others: Vec<_> = owners().filter(|one| one.uid != owner.uid()).collect();
                let body = json!({ "metadata": { "ownerReferences": others } });
                Some(self.patching(Some(number), live, (Job::Disown, body)))
            }
            Leaves::Released => None,
        }
    }

    /// Returns true if some field of an object owned by another controller or user is ours.
    fn has_a_part(&self, number: usize, live: &Arc<Stored>) -> bool {
        let (manager, _) = self.manager(self.ir.inputs[number].mode, Some(live));
        let raw = live.raw.as_deref();
        let entries = raw.and_then(|raw| raw.pointer("/metadata/managedFields")?.as_array());
        let mut entries = entries.into_iter().flatten();
        entries.any(|entry| {
            let says = |key: &str| entry.get(key).and_then(Value::as_str);
            says("manager") == Some(&manager) && says("operation") == Some("Apply")
        })
    }

    fn left(&self, input: Option<usize>, plan: Plan) -> Leftover {
        let owner = self.subject.meta.uid.clone();
        Leftover { input, owner, plan }
    }
}
