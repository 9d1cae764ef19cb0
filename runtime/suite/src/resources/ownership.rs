//! Checks of objects that are kept without an owner reference and of adopted objects. They read the
//! ownership from the server alone and compare it with the declaration. The runtime below may know
//! more or less than the server.

use std::collections::BTreeSet;

use lifecycle_runtime::machine::ir::Lifecycle;
use lifecycle_runtime::machine::verdict::Verdict;
use serde_json::{Value, json};

use super::Core;
use super::harness::Harness;
use super::invariant::Invariant;
use super::keeper::{adopts, keeper, owners};
use super::site;

/// Path of the object that controls the objects of another controller. It exists on every cluster,
/// and stays.
const OTHER: &str = "/api/v1/namespaces/default";

/// Returns true if the keeper of an object of an input matters.
pub(crate) fn has_keepers(ir: &Lifecycle, input: usize) -> bool {
    ir.inputs[input].retain.is_some() || adopts(ir, input)
}

impl Core {
    /// Returns true if the object at a path is created once.
    pub(crate) fn is_made_once(&self, path: &str) -> bool {
        self.is_of(path, |input| self.ir.inputs[input].noted.is_some())
    }

    /// Returns true if the object at a path may be kept or adopted.
    pub(crate) fn is_kept_or_adopted(&self, path: &str) -> bool {
        self.is_of(path, |input| has_keepers(self.ir, input))
    }

    fn is_of(&self, path: &str, such: impl Fn(usize) -> bool) -> bool {
        let mut inputs = (0..self.ir.inputs.len()).filter(|input| such(*input));
        inputs.any(|input| {
            let kind = self.machine.kind(input);
            kind.is_some_and(|kind| super::fixture::is_of(&kind, path))
        })
    }
}

impl Harness {
    /// Creates an object of another controller at the path of ours.
    pub(crate) async fn control(
        &mut self,
        path: &str,
        pending: Option<&Value>,
    ) -> kube::Result<bool> {
        let wrote = self.wire.wrote();
        let Some(body) = wrote.get(path).or(pending).cloned() else {
            return Ok(false);
        };
        let Some(other) = site::get(&self.admin, OTHER).await? else {
            return Ok(false);
        };
        self.remove(path).await?;
        let mut foreign = site::as_foreign(&body, path);
        foreign["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "v1", "kind": "Namespace", "name": "default",
            "uid": other.pointer("/metadata/uid"), "controller": true,
        }]);
        site::post(&self.admin, site::all_of(path), &foreign).await?;
        self.foreign.insert(path.to_owned());
        Ok(true)
    }

    /// Finds objects that are reported to be as desired but do not stay, or do not go, as declared.
    pub(crate) async fn kept_at_rest(&mut self) {
        let ir = self.core.ir;
        let inputs: Vec<usize> = (0..ir.inputs.len())
            .filter(|input| has_keepers(ir, *input))
            .collect();
        let mut found = BTreeSet::new();
        for last in self.observer.last().into_values() {
            if last.failure.is_some() || last.deleting {
                continue;
            }
            for input in &inputs {
                let var = ir.inputs[*input].var;
                let verdict = var.and_then(|var| ir.verdict_in(last.world(), var));
                if verdict != Some(Verdict::Current) {
                    continue;
                }
                let policy = ir.inputs[*input].retain.as_ref();
                let retained = policy.is_some_and(|policy| last.world().holds(policy));
                for object in last.observation.objects(*input) {
                    let Some(path) = self.core.path_of(*input, object) else {
                        continue;
                    };
                    let live = site::get(&self.admin, &path).await.ok().flatten();
                    let why = live.and_then(|live| self.astray_of(&live, retained));
                    found.extend(why.map(|why| format!("{path}: {why}")));
                }
            }
        }
        for text in found {
            self.find(Invariant::Kept, text);
        }
    }

    fn astray_of(&self, live: &Value, retained: bool) -> Option<&'static str> {
        let kept = keeper(live).filter(|kept| self.observer.is_there(&kept.uid));
        let owned =
            self.observer.owns(live) && owners(live).any(|(uid, _)| self.observer.knows(uid));
        let stays = retained || kept.as_ref().is_some_and(|kept| kept.adopted);
        match (stays, owned, kept.is_some()) {
            (true, true, _) => Some("it is to stay, and goes with its owner"),
            (true, false, false) => Some("it must stay, but nothing records its owner"),
            (false, false, _) => Some("it is to go with its owner, and has none"),
            (true, false, true) | (false, true, _) => None,
        }
    }

    /// Returns the paths of objects that must stay when the objects of the lifecycle are deleted.
    pub(crate) async fn list_kept(&self) -> Vec<String> {
        let mut kept = Vec::new();
        for path in self
            .wire
            .wrote()
            .into_keys()
            .chain(self.foreign.iter().cloned())
        {
            let live = site::get(&self.admin, &path).await.ok().flatten();
            let stays = live.is_some_and(|live| {
                let leaves = live.pointer("/metadata/deletionTimestamp").is_some();
                !leaves && keeper(&live).is_some() && owners(&live).next().is_none()
            });
            kept.extend(stays.then_some(path));
        }
        kept
    }

    /// Finds objects that should have stayed and were removed.
    pub(crate) async fn check_kept(&mut self, kept: Vec<String>) {
        for path in kept {
            if site::get(&self.admin, &path)
                .await
                .is_ok_and(|live| live.is_none())
            {
                let text = format!("{path} is kept, and went with its owner");
                self.find(Invariant::Kept, text);
            }
        }
    }
}
