//! A call waits for a promise without a time limit. Callers give up after a while and retry. Before
//! that, they need an answer that names the missing part.
//!
//! ```text
//! NodePublishVolume -> Published by publish;               // refused: it waits for `answered`
//! NodePublishVolume -> Published by publish within 90s else UNAVAILABLE;
//! ```

use crate::errors::Sink;
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::calls::Called;
use crate::space::witness::{Claim, minimal};

pub(super) const RULE: Rule = Rule {
    code: "LC088",
    name: "unbounded_wait",
    group: Group::Calls,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Calls(check),
};

fn check(called: &Called<'_>, sink: &mut Sink) {
    let space = called.space;
    for drive in called.drives.iter().filter(|d| d.call.within.is_none()) {
        let waits = drive.waits();
        let Some(example) = waits.first() else {
            continue;
        };
        let waiting = |world: usize| waits.binary_search(&world).is_ok();
        let claim = Claim {
            about: drive.worlds.clone(),
            bad: &waiting,
            expected: drive.vars(space),
        };
        let name = &drive.call.name;
        let witness = minimal(space, &claim, *example);
        sink.push(
            RULE.finding(
                name.span(),
                name.to_string(),
                format!("`{name}` has to wait in `{witness}`: write `within 90s else UNAVAILABLE`"),
            )
            .help(format!("or refuse there: `{witness} => CODE;`")),
        );
    }
}
