//! Minted values that would be made anew again and again.

use crate::findings::Found;
use crate::worlds::Worlds;

/// What is to be made anew is not to be made anew again at once.
pub(crate) fn rotations(worlds: &Worlds<'_>, found: &mut Found) {
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
                found.say("LC154", &value.name);
            }
        }
    }
}
