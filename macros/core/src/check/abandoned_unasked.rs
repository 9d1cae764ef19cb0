//! `abandoned` holds in a world by a fact that is not asked there: what nobody sees would count as gone, and what is left be given up by that. At run time it
//! does not count; but who reads the declaration thinks so.
//!
//! ```text
//! abandoned when key == Revoked "..."                        // refused: without the Secret `key` is not asked, and has its first value
//! abandoned when token == Absent || key == Revoked "..."     // the Secret is always looked at
//! ```

use std::collections::BTreeSet;

use crate::errors::Sink;
use crate::model::VarId;
use crate::rule::{Rule, Run, Stage};
use crate::space::Space;
use crate::space::witness::{Claim, minimal};

pub(super) const RULE: Rule = Rule {
    code: "LC144",
    name: "abandoned_unasked",
    stage: Stage::Graph,
    run: Run::Worlds(check),
};

fn check(space: &Space<'_>, sink: &mut Sink) {
    let lifecycle = space.lifecycle;
    for abandoned in &lifecycle.abandoned {
        let bad = |world: usize| {
            let world = space.worlds.get(world);
            world.holds(&abandoned.when) && world.says(&abandoned.when, lifecycle) != Some(true)
        };
        let Some(example) = space.deleting().find(|world| bad(*world)) else {
            continue;
        };
        let at = space.worlds.get(example);
        let mut unasked: BTreeSet<VarId> = abandoned.when.vars();
        unasked.retain(|var| !at.asked(*var));
        let names = unasked.iter().map(|var| &lifecycle.vars[var.0].name);
        let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        let asked = &abandoned.when.vars() - &unasked;
        let mut expected = asked;
        for var in &unasked {
            let given = lifecycle.vars[var.0].given.iter();
            expected.extend(given.flat_map(|guard| guard.pred.vars()));
        }
        let claim = Claim {
            about: space.deleting().collect(),
            bad: &bad,
            expected,
        };
        let message = format!(
            "with `{}` nobody asks {}, and `abandoned` holds by that: what is unseen is not gone",
            minimal(space, &claim, example),
            names.join(", ")
        );
        let found = RULE.error(abandoned.when.span, "abandoned", message);
        sink.push(
            found.help(
                "say it by facts that are asked there: those that the `given` of the fact asks",
            ),
        );
    }
}
