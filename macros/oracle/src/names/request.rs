//! Fields of the request that facts of a volume read: that there are such, and each once. Knows no call and no world.

use crate::findings::Found;
use crate::syntax::Life;

/// What a fact may read of a request by itself.
const FIELDS: [&str; 11] = [
    "name",
    "volume_id",
    "staging_target_path",
    "target_path",
    "parameters",
    "volume_context",
    "capabilities",
    "readonly",
    "capacity_range",
    "requisite",
    "preferred",
];

/// What facts read of the request by itself, without a look at worlds.
pub(super) fn fields(life: &Life, found: &mut Found) {
    for fact in &life.facts {
        for (at, source) in fact.from.iter().enumerate() {
            let Some(("request", field)) = source.split_once('.') else {
                continue;
            };
            if life.volume && !FIELDS.contains(&field) {
                found.say("LC001", &fact.name);
                continue;
            }
            let before = &fact.from[..at];
            let same = |other: &String| other == field || other == "request";
            if life.volume && (before.contains(source) || fact.from.iter().any(same)) {
                found.say("LC119", &fact.name);
            }
        }
    }
}
