//! One lifecycle connected to the shared caches, with the cache and the index of each input.
//! Reports at startup if it cannot run.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::time::Instant;

use super::Settings;
use super::memory::ObjectMemory;
use super::polls::Polls;
use crate::cluster::index::{Finder, Index, IndexKey};
use crate::cluster::observe::{Observer, Plan, View, WriteId};
use crate::cluster::store::{Change, Keep, Name, Store};
use crate::error::Error;
use crate::lifecycle::random::Seed;
use crate::lifecycle::{Kind, Machine, Stored};
use crate::machine::ir::{Lifecycle, Lookup, Mode, Verb};
use crate::machine::kstatus::OBSERVED_GENERATION;
use crate::naming::Naming;
use crate::provider::{Provider, Providers};

pub(crate) struct Runner {
    pub(crate) machine: Arc<dyn Machine>,
    pub(crate) ir: &'static Lifecycle,
    pub(crate) naming: Naming,
    pub(crate) subject_kind: Kind,
    pub(crate) subject_store: usize,
    /// The name of each declared field in the status.
    pub(crate) fields: Vec<&'static str>,
    pub(crate) kinds: Vec<Option<Kind>>,
    pub(crate) finders: Vec<Option<Finder>>,
    /// The cache of each input that has one.
    pub(crate) stores: Vec<Option<usize>>,
    /// Caches that a reconciliation reads.
    pub(crate) needs: BTreeSet<usize>,
    indexes: Vec<Option<Index>>,
    /// The provider of each input that names one.
    pub(crate) providers: Vec<Option<Arc<Provider>>>,
}

impl Runner {
    pub(crate) fn new(
        machine: Arc<dyn Machine>,
        naming: Naming,
        all: &mut Vec<Store>,
        settings: &Settings,
    ) -> Result<Self, Error> {
        let ir = machine.ir();
        let Some(subject_kind) = machine.subject() else {
            return Err(Error::Unsupported {
                lifecycle: ir.name,
                why: VOLUME.to_owned(),
            });
        };
        let fields = subject_kind.status_names(ir.fields);
        let fields = fields.map_err(|unknown| Error::Unsupported {
            lifecycle: ir.name,
            why: unknown.to_string(),
        })?;
        if let Some(lacking) = lacking(ir, &subject_kind) {
            return Err(Error::Unsupported {
                lifecycle: ir.name,
                why: format!(
                    "`kstatus` writes status field `{lacking}`, which the type of the status does not have: add it to the type"
                ),
            });
        }
        let subject_store = store_of(&subject_kind, all, settings);
        all[subject_store].keep(Keep::Status);
        let mut runner = Self {
            ir,
            naming,
            subject_store,
            fields,
            kinds: Vec::new(),
            finders: Vec::new(),
            stores: Vec::new(),
            needs: BTreeSet::from([subject_store]),
            indexes: Vec::new(),
            providers: named(ir, &settings.providers),
            machine: Arc::clone(&machine),
            subject_kind,
        };
        for (number, input) in ir.inputs.iter().enumerate() {
            let kind = machine.kind(number);
            let kinds = (
                &runner.subject_kind,
                kind.as_ref(),
                owner_of(&*machine, number),
            );
            if let Some(why) = unsupported(ir, number, kinds) {
                let lifecycle = ir.name;
                return Err(Error::Unsupported { lifecycle, why });
            }
            let store = kind.as_ref().map(|kind| store_of(kind, all, settings));
            if let Some(store) = store {
                runner.needs.insert(store);
                if input.mode != Mode::Watched {
                    all[store].keep(Keep::Whole);
                }
            }
            let finder = kind.as_ref().map(|kind| Finder {
                input,
                number,
                by_namespace: kind.namespaced && runner.subject_kind.namespaced,
                namespaced: kind.namespaced,
            });
            let index = finder.map(|finder| Index::new(finder, Arc::clone(&machine)));
            runner.kinds.push(kind);
            runner.stores.push(store);
            runner.finders.push(finder);
            runner.indexes.push(index);
        }
        Ok(runner)
    }

    /// The labels that each object of a cache has which this lifecycle can find; none where it finds some without. `None`: it does not read that cache.
    pub(crate) fn labels_of(&self, store: usize) -> Option<BTreeSet<&'static str>> {
        if self.subject_store == store {
            return Some(BTreeSet::new());
        }
        let inputs = self.ir.inputs.iter().zip(&self.stores);
        let of_store = inputs.filter(|(_, of)| **of == Some(store));
        let labels = of_store.map(|(input, _)| match input.lookup {
            // An object in place of one of ours has none of its labels.
            Lookup::Labels(keys) if input.mode == Mode::Watched => keys.iter().copied().collect(),
            Lookup::Labels(_)
            | Lookup::Name(_)
            | Lookup::Names
            | Lookup::Refs
            | Lookup::Owner
            | Lookup::Namespace
            | Lookup::Ref
            | Lookup::Equal
            | Lookup::Key => BTreeSet::new(),
        });
        labels.reduce(|all: BTreeSet<_>, some| &all & &some)
    }

    /// Returns the kind of the object that a plan writes.
    pub(crate) fn kind_of(&self, plan: &Plan) -> &Kind {
        let kind = plan.input.and_then(|input| self.kinds[input].as_ref());
        kind.unwrap_or(&self.subject_kind)
    }

    /// Records a change in every index of its cache, and returns the dependent objects.
    pub(crate) fn changed(&mut self, store: usize, change: &Change) -> BTreeSet<Name> {
        let over = self.indexes.iter_mut().zip(&self.stores);
        over.filter(|(_, over)| **over == Some(store))
            .filter_map(|(index, _)| index.as_mut())
            .flat_map(|index| {
                let looked = index.changed(change);
                let concerns = !change.reads_same || index.is_written();
                if concerns { looked } else { BTreeSet::new() }
            })
            .collect()
    }

    /// Records the lookups of an object.
    pub(crate) fn depends_on(
        &mut self,
        subject: &Name,
        before: &[BTreeSet<IndexKey>],
        now: &[BTreeSet<IndexKey>],
    ) {
        let none = BTreeSet::new();
        for (number, index) in self.indexes.iter_mut().enumerate() {
            if let Some(index) = index {
                let before = before.get(number).unwrap_or(&none);
                let now = now.get(number).unwrap_or(&none);
                index.depends_on(subject, before, now);
            }
        }
    }

    pub(crate) fn observer<'a>(&'a self, view: &'a dyn View) -> Observer<'a> {
        Observer {
            machine: &*self.machine,
            subject_kind: Some(&self.subject_kind),
            call: None,
            kinds: &self.kinds,
            finders: &self.finders,
            naming: &self.naming,
            view,
        }
    }
}

/// Why a lifecycle without an object is refused.
const VOLUME: &str = "a `volume` is run by calls: serve it with a driver instead of running it";

/// Returns a status field that tools read and the status type lacks. An API server would drop such
/// a field, and no tool would see when an object is done.
fn lacking(ir: &Lifecycle, kind: &Kind) -> Option<&'static str> {
    let needed = [OBSERVED_GENERATION, "conditions"];
    let mut needed = needed.into_iter().filter(|_| ir.kstatus);
    needed.find(|name| !kind.has_status_field(name))
}

/// The cache of a kind; lifecycles share it.
fn store_of(kind: &Kind, all: &mut Vec<Store>, settings: &Settings) -> usize {
    let known = all.iter().position(|s| s.kind.shares_cache(kind));
    known.unwrap_or_else(|| {
        all.push(Store::for_namespaces(kind.clone(), &settings.namespaces));
        all.len() - 1
    })
}

/// Returns the kind of the other input that owns the objects of this one.
fn owner_of(machine: &dyn Machine, number: usize) -> Option<Kind> {
    machine.kind(machine.ir().inputs[number].owner?)
}

/// Reports a valid declaration that this driver does not implement, with the text to write instead.
fn unsupported(
    ir: &Lifecycle,
    number: usize,
    (subject, kind, owner): (&Kind, Option<&Kind>, Option<Kind>),
) -> Option<String> {
    let owner = owner.as_ref().unwrap_or(subject);
    let input = &ir.inputs[number];
    let name = input.name;
    match (input.mode, kind) {
        (Mode::Record, _) if input.many => Some(format!(
            "`{name}` records several values: declare a record of one type that holds them"
        )),
        (Mode::Record | Mode::Noted | Mode::Clock | Mode::Group, _) => None,
        (Mode::Probe, _) => Some(format!("`{name}` is a probe, which only volumes have")),
        (Mode::Watched | Mode::Owned | Mode::Shared | Mode::Part, None) => {
            Some(format!("`{name}` has no kind"))
        }
        (Mode::Owned | Mode::Shared, Some(kind)) if owner.namespaced && !kind.namespaced => {
            Some(format!(
                "`{name}` would be a {} without a namespace owned by a {} in one, which the garbage collector takes away: give it an owner without a namespace",
                kind.kind, owner.kind
            ))
        }
        (Mode::Part, Some(_)) if input.many => Some(format!(
            "`{name}` is a part of several objects: declare a part of one"
        )),
        (Mode::Poll, _) if input.every.is_none_or(|every| every.least == 0) => Some(format!(
            "`{name}` does not declare how often it is polled: add `every 30s`"
        )),
        (Mode::Watched | Mode::Poll, _) => {
            let mut writes = ir.effects.iter();
            let written = writes.any(|e| e.target == number && e.verb != Verb::Call);
            written.then(|| format!("`{name}` is written and only watched: declare it `owned`"))
        }
        (Mode::Owned | Mode::Shared | Mode::Part, Some(_)) => None,
    }
}

/// Caches and memories that one reconciliation reads.
pub(crate) struct Caches<'a> {
    pub(crate) lifecycle: usize,
    pub(crate) runner: &'a Runner,
    pub(crate) stores: &'a [Store],
    pub(crate) polls: &'a Polls,
    pub(crate) memory: &'a ObjectMemory,
    /// Current time.
    pub(crate) now: Timestamp,
}

impl View for Caches<'_> {
    fn find(&self, input: usize, keys: &BTreeSet<IndexKey>) -> Vec<Arc<Stored>> {
        let (Some(store), Some(index)) = (self.runner.stores[input], &self.runner.indexes[input])
        else {
            return Vec::new();
        };
        let mut names = BTreeSet::new();
        for key in keys {
            match key {
                IndexKey::Named(name) => names.extend([name]),
                IndexKey::Of(..) => names.extend(index.found_by(key)),
            }
        }
        let store = &self.stores[store];
        names
            .into_iter()
            .filter_map(|n| store.get(n).cloned())
            .collect()
    }

    fn get(&self, input: usize, name: &Name) -> Option<Arc<Stored>> {
        let store = self.runner.stores[input]?;
        self.stores[store].get(name).cloned()
    }

    fn answer(&self, input: usize, key: &str) -> Result<Arc<dyn Any + Send + Sync>, String> {
        self.polls.answer(self.lifecycle, input, key)
    }

    fn answer_version(&self, input: usize, key: &str) -> u64 {
        self.polls.version(self.lifecycle, input, key)
    }

    fn now(&self) -> Option<Timestamp> {
        Some(self.now)
    }

    fn seed(&self) -> Option<Seed> {
        self.memory.seed.clone()
    }

    fn refusal(&self, effect: usize, write: &WriteId) -> Option<String> {
        self.memory.refusal(effect, write, Instant::now())
    }

    fn is_settled(&self, name: &Name, uid: &str, desired: u64, live: u64) -> bool {
        self.memory.is_settled(name, uid, desired, live)
    }
}

/// The provider of each input of a lifecycle.
fn named(ir: &Lifecycle, providers: &Providers) -> Vec<Option<Arc<Provider>>> {
    let named = ir.inputs.iter().map(|input| input.provider);
    named.map(|name| Some(providers.named(name?))).collect()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, JsonSchema, Serialize)]
    #[kube(
        group = "tests",
        version = "v1",
        kind = "Bare",
        status = "BareStatus",
        namespaced
    )]
    struct BareSpec {}

    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    struct BareStatus {
        phase_now: Option<String>,
    }

    crate::lifecycle! {
        resource Bare;

        observe { class: ConfigMap by name meta.name; }
        states {
            NoClass when !class => Error wakes class;
            goal Ready when class => Ready;
        }
        status {
            field phase_now = phase;
            field why = reason;
        }
    }

    struct Logic;

    impl BareLogic for Logic {}

    #[test]
    fn a_field_that_the_status_does_not_have_is_told_before_anything_is_written() {
        let naming = Naming::new("op", "Bare");
        let started = Runner::new(
            Arc::new(machine(Logic)),
            naming,
            &mut Vec::new(),
            &Settings::new("op"),
        );
        let error = started.err().expect("it does not start").to_string();
        assert!(error.contains("status field `why`"), "{error}");
        assert!(error.contains("which has `phase_now`"), "{error}");
    }
}
