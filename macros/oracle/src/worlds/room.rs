//! Room of a write: the values in which it has an effect.

use super::{Act, UNSET, World, Worlds};
use crate::broken::Rule;
use crate::syntax::Effect;

/// Returns the values in which a write fits; for a call, the values in which it does not.
pub(super) fn room(effect: &Effect, own: &str, once: bool) -> &'static [&'static str] {
    match (effect.verb.as_str(), effect.each) {
        ("create", true) => &["Behind"],
        ("create", false) => &["Absent"],
        ("note", _) => &["New"],
        ("delete", false) if once => &["Made"],
        ("apply", true) => &["Behind"],
        ("apply", false) if own == "part" => &["Stale"],
        ("apply", false) => &["Absent", "Stale"],
        ("delete", true) => &["Surplus"],
        ("delete", false) => &["Stale", "Current"],
        ("adopt", _) => &["Adoptable"],
        _ if own == "poll" => &["Unknown"],
        _ => &[],
    }
}

impl Worlds<'_> {
    pub(super) fn has_room(&self, act: &Act, world: &World) -> bool {
        if self.forgets(Rule::Room) {
            return true;
        }
        let target = act.on.map_or(UNSET, |on| world[on]);
        if act.verb != "call" {
            return act.room.contains(&target);
        }
        let first = act.sets.first().into_iter().flatten();
        let differs = first.into_iter().any(|(var, value)| world[*var] != *value);
        differs && !act.room.contains(&target)
    }
}
