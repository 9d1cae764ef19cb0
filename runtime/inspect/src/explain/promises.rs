//! Promises that hold in the object's state and are not kept yet: their actor, and the expected
//! result.

use lifecycle_runtime::machine::ir::Pred;

use crate::explain::explanation::Actor;
use crate::explain::look::{Inspection, Position};
use crate::explain::why::sentence;

/// Actor expected to act by a promise that holds here.
pub(crate) struct Due {
    pub(crate) who: Actor,
    pub(crate) told: String,
    /// The keeper, by the path of its lifecycle.
    pub(crate) keeper: Option<&'static str>,
    pub(crate) name: &'static str,
}

/// The promises that hold here and are not kept yet.
pub(crate) fn promises(look: &Inspection<'_>, place: &Position) -> Vec<Due> {
    let (ir, world) = (look.ir, &place.worlds[0]);
    let due = ir.promises.iter().filter(|promise| {
        let is_kept =
            |set: &&[(usize, u8)]| set.iter().all(|(var, value)| world.get(*var) == *value);
        world.holds(&promise.when) && !promise.sets.iter().any(is_kept)
    });
    due.map(|promise| {
        let results = promise.sets.iter().map(|set| {
            let all = set
                .iter()
                .map(|&(var, value)| Pred::Is(var, 1 << value).describe(ir));
            all.collect::<Vec<_>>().join(" && ")
        });
        let results: Vec<String> = results.collect();
        let brings = results.join("` or `");
        let (who, told, keeper) = match &promise.claim {
            Some(claim) => {
                let kind = claim.keeper.rsplit("::").next().unwrap_or(claim.keeper);
                let told = format!(
                    "{kind} must bring about `{brings}`, as it does in {}",
                    claim.states.join(" | ")
                );
                (Actor::Lifecycle, told, Some(claim.keeper))
            }
            None => {
                let awaited = format!("`{brings}` must come about");
                let vars = promise.sets.iter().flat_map(|set| set.iter());
                let why = vars.filter_map(|&(var, _)| sentence(look, var)).next();
                let told = why.map_or(awaited.clone(), |why| format!("{awaited}: {why}"));
                (Actor::Cluster, told, None)
            }
        };
        Due {
            who,
            told,
            keeper,
            name: promise.name,
        }
    })
    .collect()
}
