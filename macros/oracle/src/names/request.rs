//! Fields of the request that facts of a volume read: that there are such, and each once. Knows no call and no world.

use crate::findings::Findings;
use crate::syntax::Life;

/// Fields that a fact may read of a request by themselves.
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

/// Checks the request fields that facts read directly, without regard to worlds.
pub(super) fn fields(life: &Life, found: &mut Findings) {
    for fact in &life.facts {
        for (at, source) in fact.from.iter().enumerate() {
            let Some(("request", field)) = source.split_once('.') else {
                continue;
            };
            if life.volume && !FIELDS.contains(&field) {
                found.report("LC001", &fact.name);
                continue;
            }
            let before = &fact.from[..at];
            let same = |other: &String| other == field || other == "request";
            if life.volume && (before.contains(source) || fact.from.iter().any(same)) {
                found.report("LC119", &fact.name);
            }
        }
    }
}
