//! All lifecycles of one run as one: operations on each of them, and the worlds of all their
//! objects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::harness::Harness;
use super::key::{ObjectState, WorldsKey};
use super::observer::{Last, Observer};
use super::site;
use super::wire::Wire;
use lifecycle_runtime::lifecycle::{Machine, ObjectRef};

impl Harness {
    /// Applies this to the observer of each lifecycle.
    pub(crate) fn observers(&self, mut act: impl FnMut(&Observer)) {
        act(&self.observer);
        self.companions.iter().for_each(|one| act(&one.observer));
    }

    /// Applies this to the wire between each lifecycle and the cluster.
    pub(crate) fn wires(&self, mut act: impl FnMut(&Wire)) {
        act(&self.wire);
        self.companions.iter().for_each(|one| act(&one.wire));
    }

    /// Sets whether reconciliations from now on are marked as disturbed by another user.
    pub(crate) fn adversary(&self, acts: bool) {
        self.observers(|observer| observer.adversary(acts));
    }

    /// How many writes there were of all lifecycles.
    pub(crate) fn all_writes(&self) -> usize {
        let mut all = 0;
        self.wires(|wire| all += wire.all_writes());
        all
    }

    pub(crate) fn is_hot(&self) -> bool {
        let mut hot = false;
        self.wires(|wire| hot |= wire.is_hot());
        hot
    }

    /// Returns the observer of one lifecycle.
    pub(crate) fn observer_of(&self, member: usize) -> &Observer {
        match member.checked_sub(1) {
            None => &self.observer,
            Some(n) => &self.companions[n].observer,
        }
    }

    /// Returns the last reconciliations of the objects of one lifecycle.
    pub(crate) fn last_of(&self, member: usize) -> BTreeMap<ObjectRef, Last> {
        self.observer_of(member).last()
    }

    /// One of the lifecycles as its newest process runs it.
    pub(crate) fn machine_of(&self, member: usize) -> Option<Arc<dyn Machine>> {
        let Some(n) = member.checked_sub(1) else {
            return self.machine();
        };
        self.companions[n].machine()
    }

    /// The worlds of all objects of all lifecycles that are there.
    pub(crate) async fn key(&self) -> WorldsKey {
        let mut all = Vec::new();
        for (member, machine) in self.core.machines().enumerate() {
            all.extend(self.key_of(member, &**machine).await);
        }
        WorldsKey(all)
    }

    async fn key_of(&self, member: usize, machine: &dyn Machine) -> Vec<ObjectState> {
        let mut there = BTreeMap::new();
        let subject = machine.subject();
        let own = self.core.fixtures.iter();
        let own = own.filter(|f| subject.as_ref().is_some_and(|kind| f.is_of(kind)));
        let paths: BTreeSet<&String> = own.map(|f| &f.path).collect();
        for path in paths {
            if let Ok(Some(object)) = site::get(&self.admin, path).await {
                let text = |pointer: &str| {
                    let value = object.pointer(pointer).and_then(Value::as_str);
                    value.map(str::to_owned)
                };
                let name = text("/metadata/name").unwrap_or_default();
                let namespace = text("/metadata/namespace");
                let uid = text("/metadata/uid").unwrap_or_default();
                there.insert((namespace, name), uid);
            }
        }
        let uid_of =
            |object: &ObjectRef| there.get(&(object.namespace.clone(), object.name.clone()));
        let observer = self.observer_of(member);
        observer.keep(|object, uid| uid_of(object).is_some_and(|u| u == uid));
        let last = observer.last();
        let standings = there.into_keys().map(|(namespace, name)| {
            let found = last
                .iter()
                .find(|(object, _)| object.namespace == namespace && object.name == name);
            ObjectState {
                member,
                name,
                world: found.map(|(_, last)| last.world().clone()),
                deleting: found.is_some_and(|(_, last)| last.deleting),
                failed: found.is_some_and(|(_, last)| last.failure.is_some()),
            }
        });
        standings.collect()
    }
}
