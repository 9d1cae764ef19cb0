//! An edge in `transitions` that no effect and no promise causes in a quiet run. What the outside does on its own is not an edge:
//! it may move any world to any world. Remove the edge, or find out why what should cause it does not.
//!
//! ```text
//! transitions { Ready -> Provisioning; }                   // refused: the outside may do so at any time, nothing of ours does
//! ```

use crate::errors::Sink;
use crate::rule::{Rule, Run, Stage};
use crate::space::Class;
use crate::space::explored::Explored;

pub(super) const RULE: Rule = Rule {
    code: "LC031",
    name: "uncaused_edge",
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    for edge in space
        .lifecycle
        .transitions
        .iter()
        .flat_map(|all| &all.edges)
    {
        let key = (Class::State(edge.from), Class::State(edge.to));
        if explored.drives.caused.contains_key(&key) {
            continue;
        }
        let name = format!("{} -> {}", space.class_name(key.0), space.class_name(key.1));
        let enters = explored.drives.caused.keys().filter(|(_, to)| *to == key.1);
        let enters: Vec<String> = enters
            .map(|(from, _)| format!("`{}`", space.class_name(*from)))
            .collect();
        let diagnostic = RULE.error(edge.span, name.as_str(), format!("nothing causes `{name}`"));
        let help = if enters.is_empty() {
            format!(
                "remove it: only the outside leads to `{}`",
                space.class_name(key.1)
            )
        } else {
            format!(
                "remove it: `{}` is entered from {}",
                space.class_name(key.1),
                enters.join(", ")
            )
        };
        sink.push(diagnostic.help(help));
    }
}
