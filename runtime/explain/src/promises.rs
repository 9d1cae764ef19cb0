//! Promises that hold where an object is and are not kept yet: who is to act, and what that brings about.

use lifecycle_runtime::machine::ir::Pred;

use crate::explanation::Who;
use crate::look::{Look, Place};

/// Whoever is expected to act by a promise that holds here.
pub(crate) struct Due {
    pub(crate) who: Who,
    pub(crate) told: String,
    /// The keeper, by the path of its lifecycle.
    pub(crate) keeper: Option<&'static str>,
    pub(crate) name: &'static str,
}

/// The promises that hold here and are not kept yet.
pub(crate) fn promises(look: &Look<'_>, place: &Place) -> Vec<Due> {
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
                    "{kind} keeps the promise `{}` in {}: `{brings}`",
                    promise.name,
                    claim.states.join(" | ")
                );
                (Who::Lifecycle, told, Some(claim.keeper))
            }
            None => {
                let told = format!(
                    "the outside keeps the promise `{}`: `{brings}`",
                    promise.name
                );
                (Who::Cluster, told, None)
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
