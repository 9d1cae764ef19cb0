//! A call can go round for ever, though every promise is kept: its effects and the promises undo each other. It would never answer.
//!
//! ```text
//! fill: call tank when !full sets { full = true } ..; drain: call tank when full sets { full = false } ..;
//! NodePublishVolume -> ready by fill, drain;               // refused: it fills and drains and fills
//! NodePublishVolume -> ready by fill;
//! ```

use crate::errors::Sink;
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::calls::Called;
use crate::space::witness::{Claim, minimal};

pub(super) const RULE: Rule = Rule {
    code: "LC085",
    name: "endless_call",
    group: Group::Calls,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Calls(check),
};

fn check(called: &Called<'_>, sink: &mut Sink) {
    let space = called.space;
    for drive in &called.drives {
        let Some(one) = drive.loops.first() else {
            continue;
        };
        let mut worlds: Vec<usize> = drive
            .loops
            .iter()
            .flat_map(|one| &one.worlds)
            .map(|world| *world as usize)
            .collect();
        worlds.sort_unstable();
        let inside = |world: usize| worlds.binary_search(&world).is_ok();
        let claim = Claim {
            about: drive.worlds.clone(),
            bad: &inside,
            expected: drive.vars(space),
        };
        let name = &drive.call.name;
        let message = format!(
            "from `{}` `{name}` can go round for ever without an answer: {}",
            minimal(space, &claim, one.worlds[0] as usize),
            drive.describe(space, one)
        );
        sink.push(
            RULE.finding(name.span(), name.to_string(), message).help(
                "refuse with a code what cannot be ended, or narrow the `when` or the `sets` of what keeps it going",
            ),
        );
    }
}
