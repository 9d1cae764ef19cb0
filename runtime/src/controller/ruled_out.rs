//! Properties that the checker ruled out and a run still violated: a `never`, a world of no state,
//! an undeclared outcome, a wrong order. The declaration, its logic or its provider is then wrong
//! about the world. The runtime leaves the object alone until that changes, and all other objects
//! go on.

use crate::cluster::observe::Observed;
use crate::machine::ir::{Effect, Lifecycle, Source};
use crate::machine::policy::{Class, Decision};
use crate::machine::world::World;

/// Violation of a property that the checker ruled out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RuledOut {
    /// A `never` holds.
    Never,
    /// No state takes the world.
    Unplaced,
    /// An effect led to none of its declared outcomes: why.
    Outcome(String),
    /// An effect must run, but its source is not readable by then. Holds its position.
    Order(usize),
}

impl RuledOut {
    /// The reason of the condition.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            Self::Never => "NeverWorld",
            Self::Unplaced => "NoState",
            Self::Outcome(_) => "UndeclaredOutcome",
            Self::Order(_) => "OutOfOrder",
        }
    }

    /// Returns the message for users: the item of the declaration, and the world.
    pub(crate) fn sentence(&self, ir: &Lifecycle, world: &World) -> String {
        let here = world.describe(ir);
        match self {
            Self::Never | Self::Unplaced => {
                let why = ir.contradiction(world);
                format!("{why}, so nothing is done: {here}")
            }
            Self::Outcome(why) => {
                format!("{why}: that is not declared, so nothing is done for now")
            }
            Self::Order(effect) => {
                let effect = &ir.effects[*effect];
                format!(
                    "`{}` is to run and cannot be built, for {} cannot be read yet, so nothing is done: {here}",
                    effect.name,
                    sources(ir, effect)
                )
            }
        }
    }
}

fn sources(ir: &Lifecycle, effect: &Effect) -> String {
    let named = effect.from.iter().filter_map(|source| match *source {
        Source::Input(input) => Some(ir.inputs[input].name),
        Source::Value(value) => Some(ir.values[value].name),
        Source::Fact(var) => Some(ir.vars[var].name),
        Source::This | Source::Request => None,
    });
    let named: Vec<_> = named.map(|name| format!("`{name}`")).collect();
    match named.as_slice() {
        [] => "its target".to_owned(),
        named => named.join(" or "),
    }
}

/// Returns the violation that a single observation shows by itself.
pub(crate) fn in_this_world(
    ir: &Lifecycle,
    observed: &Observed,
    (class, next): (Class, Decision),
) -> Option<RuledOut> {
    let world = &observed.observation.world;
    match (class, next) {
        (Class::Contradiction, _) => {
            let is_never = ir.nevers.iter().any(|never| world.holds(never));
            Some(if is_never {
                RuledOut::Never
            } else {
                RuledOut::Unplaced
            })
        }
        (_, Decision::Effect(effect)) if observed.plans[effect].is_empty() => {
            Some(RuledOut::Order(effect))
        }
        (Class::State(_) | Class::Refused { .. } | Class::Deleting, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cluster::fixture::{Caches, maker, thing};
    use crate::lifecycle::Machine;

    #[test]
    fn an_effect_that_is_to_run_and_cannot_be_built_is_an_order_that_does_not_hold() {
        let ir = maker().ir();
        let class = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": "c", "namespace": "ns" }, "data": { "size": "small" },
        });
        let caches = Caches::with_objects(&[class]);
        let mut observed = caches.observe(thing(json!({ "className": "c" }), json!({})));
        let world = observed.observation.world.clone();
        let decided = (ir.classify(&world, false), ir.next(&world, false));
        assert_eq!(decided.1, Decision::Effect(0));
        assert_eq!(in_this_world(ir, &observed, decided), None);
        observed.plans[0].clear();
        let ruled_out = in_this_world(ir, &observed, decided).expect("nothing was built");
        assert_eq!(ruled_out.reason(), "OutOfOrder");
        let said = ruled_out.sentence(ir, &world);
        assert!(
            said.starts_with(
                "`apply_made` is to run and cannot be built, for `class` cannot be read yet"
            ),
            "{said}"
        );
    }
}
