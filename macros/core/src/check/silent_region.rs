//! Nobody hears of a failure in a region. A region whose conditions are not named in `ready from`
//! does not count for Ready, so its own condition is all that users see: it needs one, and a state
//! for each write that may be refused.
//!
//! ```text
//! region backup { .. effects { apply nightly; } }      // refused: no condition, and no state mentions `refused(apply_nightly)`
//! region backup {
//!     ..
//!     states { Rejected when refused(apply_nightly) => Error wakes self; .. }
//!     status { condition BackedUp { False "Refused" when refused(apply_nightly); .. } }
//! }
//! ```

use proc_macro2::Ident;

use crate::ast::{Lifecycle, Verb};
use crate::compose::asked::unmentioned;
use crate::errors::Sink;
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC178",
    name: "silent_region",
    group: Group::Regions,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// Returns true if `ready from` names a condition that nothing declares.
fn names_unknown(lifecycle: &Lifecycle) -> bool {
    let parts = lifecycle.regions.iter().map(|region| &region.part);
    let conditions = parts.chain([lifecycle]).flat_map(|part| &part.conditions);
    let known: Vec<&Ident> = conditions.map(|condition| &condition.name).collect();
    let mut named = lifecycle.ready.iter().flat_map(|ready| &ready.from);
    named.any(|name| !known.contains(&name))
}

/// Reports regions that do not count and do not report.
pub(super) fn check(lifecycle: &Lifecycle, sink: &mut Sink) {
    // The region may be meant by what was not understood.
    if lifecycle.taint.everything || names_unknown(lifecycle) {
        return;
    }
    let silent = lifecycle
        .regions
        .iter()
        .filter(|region| !region.counts(lifecycle));
    for region in silent {
        let (name, part) = (&region.name, &region.part);
        if part.taint.everything {
            continue;
        }
        if part.conditions.is_empty() {
            let message =
                format!("region `{name}` has no condition: nobody would see that it fails");
            let help = "declare one in its `status`; it counts for Ready if `ready from` names it";
            let found = RULE.finding(name.span(), name.to_string(), message);
            sink.push(found.help(help));
        }
        let unmentioned = unmentioned(part);
        let effects = part.effects.iter().filter(|effect| {
            let may_be_refused = !matches!(effect.verb, Verb::Delete | Verb::Note);
            let is_stage = effect.when.is_none() && lifecycle.is_for_deletions(effect);
            may_be_refused && !is_stage && unmentioned.contains(&effect.name())
        });
        for effect in effects {
            let effect = effect.name();
            let message = format!(
                "region `{name}` does not count for Ready, and no state of it mentions `refused({effect})`"
            );
            let help = format!(
                "add a state, `Rejected when refused({effect}) => Error wakes self;` with a clause of its condition, or name its condition in `ready from`"
            );
            let found = RULE.finding(effect.span(), name.to_string(), message);
            sink.push(found.help(help));
        }
    }
}
