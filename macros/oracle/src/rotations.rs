//! Minted values that would be made anew again and again.

use crate::findings::Findings;
use crate::worlds::Worlds;

/// Checks that a value that is made anew is not due to be made anew again at once.
pub(crate) fn rotations(worlds: &Worlds<'_>, found: &mut Findings) {
    for (value, mint) in worlds.life.minted() {
        let Some(until) = mint.until.as_ref().map(|until| worlds.test(until)) else {
            continue;
        };
        let builders = worlds.acts.iter().filter(|act| act.verb == "apply");
        let keeper = worlds.var(&mint.keeper);
        for act in builders.filter(|act| act.on == keeper) {
            let expired = worlds
                .all
                .iter()
                .filter(|world| worlds.holds(&until, world));
            let mut endless = expired.filter(|world| worlds.enabled(act, world));
            if endless.any(|world| !worlds.ends_once(act, world, &until)) {
                found.report("LC154", &value.name);
            }
        }
    }
}
