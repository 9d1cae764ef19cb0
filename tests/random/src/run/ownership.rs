//! Ownership of objects that may be kept or adopted. Others gain control of them, and the operator
//! leaves alone the objects that others control.

use lifecycle_runtime::lifecycle::kept_by::KEPT_BY;
use lifecycle_runtime::machine::ir::Verb;
use serde_json::{Value, json};

use super::{Run, SUBJECT};
use crate::cluster::name;
use crate::reality::owners;

impl Run<'_> {
    /// Returns true if the keeper of an object matters.
    fn is_kept_or_adopted(&self, input: usize) -> bool {
        let ir = self.machine.ir;
        let mut effects = ir.effects.iter();
        ir.inputs[input].retain.is_some()
            || effects.any(|effect| effect.verb == Verb::Adopt && effect.target == input)
    }

    fn kept_or_adopted(&self) -> Vec<usize> {
        let inputs = 0..self.machine.ir.inputs.len();
        inputs.filter(|at| self.is_kept_or_adopted(*at)).collect()
    }

    /// Returns true if anything is kept or adopted.
    pub(super) fn has_keepers(&self) -> bool {
        !self.kept_or_adopted().is_empty()
    }

    /// Changes the owner or keeper of an object to another one, or removes it.
    pub(super) fn change_owner(&mut self) -> bool {
        let inputs = self.kept_or_adopted();
        let Some((input, object)) = self.some_object(&inputs) else {
            return false;
        };
        let how = self.dice.roll(6);
        let other = |controls: bool| {
            json!({
                "apiVersion": "random.test/v1", "kind": "Thing0", "name": "other", "uid": "another",
                "controller": controls,
            })
        };
        let keeper = |name: &str| {
            let kept = json!({
                "apiVersion": "random.test/v1", "kind": "Thing0", "namespace": "default",
                "name": name, "uid": "earlier",
            });
            json!(kept.to_string())
        };
        self.cluster.edit(input + 1, name(&object), |object| {
            let meta = &mut object["metadata"];
            match how {
                0 => meta["ownerReferences"] = json!([other(true)]),
                1 => meta["ownerReferences"] = json!([other(false)]),
                2 => meta["ownerReferences"] = json!([]),
                3 => meta["annotations"][KEPT_BY] = keeper(SUBJECT),
                4 => meta["annotations"][KEPT_BY] = keeper("other"),
                _ => {
                    meta["ownerReferences"] = json!([]);
                    meta["annotations"] = json!({});
                }
            }
        })
    }

    /// Returns the objects that another controller controls.
    fn controlled_by_others(&self) -> Vec<(usize, Value)> {
        let inputs = self.kept_or_adopted().into_iter();
        let all = inputs.flat_map(|input| {
            let all = self.cluster.all(input + 1).into_iter();
            all.map(move |object| (input + 1, object))
        });
        let is_strange = |(_, object): &(usize, Value)| {
            owners(object).any(|(of, controls)| controls && of == "another")
        };
        all.filter(is_strange).collect()
    }

    /// Records the objects as the environment left them.
    pub(super) fn note_strangers(&mut self) {
        self.strangers = self.controlled_by_others();
    }

    /// Checks that the objects are as the environment left them: the driver never overrules a
    /// foreign controller.
    pub(super) fn overrules_nobody(&mut self) {
        let is = self.controlled_by_others();
        let touched = self
            .strangers
            .iter()
            .find(|stranger| !is.contains(stranger));
        if let Some((kind, object)) = touched {
            let what = format!(
                "hands off: the Thing{kind} `{}` of another controller was changed or deleted",
                name(object)
            );
            self.find(what);
        }
    }
}
