//! Content of the caches of a recorded operator at one moment, and a reconcile of this version over
//! it.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use kube::runtime::watcher::Event;
use lifecycle_runtime::cluster::index::{Finder, Index, IndexKey};
use lifecycle_runtime::cluster::observe::{Observed, Observer, View, WriteId};
use lifecycle_runtime::cluster::store::{Keep, Name, Raw, Store};
use lifecycle_runtime::lifecycle::random::Seed;
use lifecycle_runtime::lifecycle::{Kind, Stored};
use lifecycle_runtime::machine::ir::{Lifecycle, Mode, Origin};
use serde_json::{Value, json};

use crate::replay::format::{Object, ObjectKey, Pass, fact, of_group};
use crate::replay::replayed::Replayed;

/// Answers that are taken as they were recorded, by variable.
pub(crate) type Pinned = BTreeMap<usize, (u8, Option<String>)>;

/// Content of the caches, for all lifecycles.
#[derive(Default)]
pub(crate) struct Caches {
    stores: Vec<Store>,
    pub(crate) wired: Vec<Wired>,
}

/// A lifecycle over the caches.
pub(crate) struct Wired {
    pub(crate) of: Replayed,
    pub(crate) ir: &'static Lifecycle,
    subject: (Kind, usize),
    pub(crate) kinds: Vec<Option<Kind>>,
    finders: Vec<Option<Finder>>,
    stores: Vec<Option<usize>>,
    indexes: Vec<Option<Index>>,
}

impl Caches {
    /// Returns empty caches. Reconciliations never read a lifecycle without objects of its own.
    pub(crate) fn for_lifecycles(all: &[Replayed]) -> Self {
        let mut caches = Self::default();
        for one in all {
            if let Some(kind) = one.machine.subject() {
                let wired = caches.wire(one.clone(), kind);
                caches.wired.push(wired);
            }
        }
        caches
    }

    fn wire(&mut self, of: Replayed, kind: Kind) -> Wired {
        let ir = of.ir();
        let machine = Arc::clone(&of.machine);
        let inputs = 0..ir.inputs.len();
        let kinds: Vec<_> = inputs.map(|input| machine.kind(input)).collect();
        let finder = |(number, of): (usize, &Option<Kind>)| {
            let of = of.as_ref()?;
            Some(Finder {
                input: &ir.inputs[number],
                number,
                by_namespace: of.namespaced && kind.namespaced,
                namespaced: of.namespaced,
            })
        };
        let finders: Vec<_> = kinds.iter().enumerate().map(finder).collect();
        let index = |finder: &Option<Finder>| Some(Index::new((*finder)?, Arc::clone(&machine)));
        Wired {
            indexes: finders.iter().map(index).collect(),
            stores: kinds
                .iter()
                .map(|of| Some(self.store(of.as_ref()?)))
                .collect(),
            subject: (kind.clone(), self.store(&kind)),
            of,
            ir,
            kinds,
            finders,
        }
    }

    fn store(&mut self, kind: &Kind) -> usize {
        let known = self.stores.iter().position(|s| s.kind.shares_cache(kind));
        known.unwrap_or_else(|| {
            let mut store = Store::new(kind.clone());
            store.keep(Keep::Whole);
            self.stores.push(store);
            self.stores.len() - 1
        })
    }

    /// Adds an object in this version.
    pub(crate) fn show(&mut self, object: &Value) {
        let (kind, version) = (object["kind"].as_str(), object["apiVersion"].as_str());
        let group = version.and_then(|version| version.split_once('/'));
        let group = group.map_or("", |(group, _)| group);
        let kind = format!("{group}/{}", kind.unwrap_or_default());
        self.take(&kind, || Event::Apply(Raw::new(object.clone())));
    }

    /// An object is gone.
    pub(crate) fn hide(&mut self, place: &ObjectKey) {
        let meta = json!({ "metadata": { "namespace": place.namespace, "name": place.name } });
        self.take(&place.kind, || Event::Delete(Raw::new(meta.clone())));
    }

    fn take(&mut self, kind: &str, event: impl Fn() -> Event<Raw>) {
        for (number, store) in self.stores.iter_mut().enumerate() {
            if of_group(&store.kind) != kind {
                continue;
            }
            for change in store.take(event()) {
                for wired in &mut self.wired {
                    let over = wired.indexes.iter_mut().zip(&wired.stores);
                    for (index, _) in over.filter(|(_, over)| **over == Some(number)) {
                        let _who_looked = index.as_mut().map(|index| index.changed(&change));
                    }
                }
            }
        }
    }

    /// The object of a lifecycle.
    pub(crate) fn subject(&self, wired: &Wired, object: &Object) -> Option<Arc<Stored>> {
        self.stores[wired.subject.1].get(&name(object)).cloned()
    }

    /// Returns the version of the object that an input finds under this name.
    pub(crate) fn version(&self, wired: &Wired, input: usize, name: &Name) -> Option<String> {
        let found = self.stores[wired.stores[input]?].get(name)?;
        found.meta.resource_version.clone()
    }

    /// Runs a reconciliation over the cached objects, with the additional data of the recorded one.
    pub(crate) fn observe_pass(
        &self,
        wired: &Wired,
        (pass, pinned): (&Pass, &Pinned),
        subject: Arc<Stored>,
    ) -> Observed {
        let view = PassView {
            caches: self,
            wired,
            pass,
            pinned,
        };
        let observer = Observer {
            machine: &*wired.of.machine,
            subject_kind: Some(&wired.subject.0),
            call: None,
            kinds: &wired.kinds,
            finders: &wired.finders,
            naming: &wired.of.naming,
            view: &view,
        };
        observer.observe(subject)
    }
}

/// Returns the namespace and name of an object of a lifecycle.
pub(crate) fn name(object: &Object) -> Name {
    Name {
        namespace: object.namespace.clone(),
        name: object.name.clone(),
    }
}

/// An answer that was there, and is not in the file.
struct Unwritten;

/// View that one reconcile reads.
struct PassView<'a> {
    caches: &'a Caches,
    wired: &'a Wired,
    pass: &'a Pass,
    pinned: &'a Pinned,
}

impl View for PassView<'_> {
    fn find(&self, input: usize, keys: &BTreeSet<IndexKey>) -> Vec<Arc<Stored>> {
        let (Some(store), Some(index)) = (self.wired.stores[input], &self.wired.indexes[input])
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
        let store = &self.caches.stores[store];
        names
            .into_iter()
            .filter_map(|name| store.get(name).cloned())
            .collect()
    }

    fn get(&self, input: usize, name: &Name) -> Option<Arc<Stored>> {
        self.caches.stores[self.wired.stores[input]?]
            .get(name)
            .cloned()
    }

    fn answer(&self, input: usize, _: &str) -> Result<Arc<dyn Any + Send + Sync>, String> {
        let declared = &self.wired.ir.inputs[input];
        match self.pass.answered.get(declared.name) {
            Some(true) => Ok(Arc::new(Unwritten)),
            Some(false) | None => {
                let said = declared.var.map(|var| fact(self.wired.ir, var));
                let said = said.and_then(|var| self.pass.says.get(&var));
                Err(said.cloned().unwrap_or_default())
            }
        }
    }

    fn answer_version(&self, _: usize, _: &str) -> u64 {
        0
    }

    fn now(&self) -> Option<Timestamp> {
        self.pass.now.as_deref()?.parse().ok()
    }

    fn seed(&self) -> Option<Seed> {
        Some(Seed::of_looks())
    }

    fn pinned(&self, var: usize) -> Option<(u8, Option<String>)> {
        self.pinned.get(&var).cloned()
    }

    fn refusal(&self, effect: usize, _: &WriteId) -> Option<String> {
        let var = fact(self.wired.ir, self.wired.ir.effects[effect].refused);
        let is_refused = self
            .pass
            .world
            .get(&var)
            .is_some_and(|value| value == "true");
        is_refused.then(|| self.pass.says.get(&var).cloned().unwrap_or_default())
    }

    fn is_settled(&self, name: &Name, uid: &str, desired: u64, live: u64) -> bool {
        self.pass.settled.iter().any(|kept| {
            (&kept.namespace, &kept.name) == (&name.namespace, &name.name)
                && (kept.uid.as_str(), kept.desired, kept.live) == (uid, desired, live)
        })
    }
}

/// Facts that keep their recorded answers, regardless of this version's answers.
pub(crate) struct FixedFacts {
    /// Variables computed from data that is not in the file, with the inputs at fault.
    pub(crate) vars: BTreeMap<usize, usize>,
    /// Variables computed from Secrets, or compared with one. Another answer for them proves
    /// nothing.
    pub(crate) secret: BTreeSet<usize>,
}

impl FixedFacts {
    /// Of a lifecycle, where objects of these kinds were recorded.
    pub(crate) fn for_lifecycle(wired: &Wired, recorded: &[String]) -> Self {
        let ir = wired.ir;
        let kind = |input: usize| wired.kinds[input].as_ref().map(of_group);
        let is_unwritten = |input: &usize| match ir.inputs[*input].mode {
            Mode::Poll | Mode::Probe => true,
            Mode::Watched | Mode::Owned | Mode::Shared | Mode::Part => {
                kind(*input).is_some_and(|kind| !recorded.contains(&kind))
            }
            Mode::Record | Mode::Noted | Mode::Clock | Mode::Group => false,
        };
        let is_apart = |input: &usize| {
            let name = ir.inputs[*input].name;
            wired.of.apart.iter().any(|(of, _)| *of == name)
        };
        let is_secret = |input: &usize| kind(*input).as_deref() == Some("/Secret");
        let mut unheard = Self {
            vars: BTreeMap::new(),
            secret: BTreeSet::new(),
        };
        for (number, var) in ir.vars.iter().enumerate() {
            let own = brought(ir, number);
            let mut looks = var.reads.iter().copied().chain(own);
            if let Some(input) = looks.clone().find(is_unwritten).or(own.filter(is_apart)) {
                unheard.vars.insert(number, input);
            }
            if looks.any(|input| is_secret(&input)) {
                unheard.secret.insert(number);
            }
        }
        unheard
    }
}

/// Returns the input of a question: the input that brings the value, or whose writes change it.
fn brought(ir: &Lifecycle, var: usize) -> Option<usize> {
    match ir.vars[var].origin {
        Origin::Input(input) => Some(input),
        Origin::Refused(effect) => Some(ir.effects[effect].target),
        Origin::Fact | Origin::Deleting | Origin::Claimed => None,
    }
}
