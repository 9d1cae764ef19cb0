//! Regions wait for each other in a circle: each asks the state of the next. None of them could be
//! checked before the others, and a deadlock between them would show only when it happens. Open the
//! circle: let one region ask a fact of the root instead, or join two regions.
//!
//! ```text
//! region serve   { states { Waiting when migrate != Migrated => Pending wakes migrate; .. } }
//! region migrate { states { Waiting when serve != Up => Pending wakes serve; .. } }   // refused
//! ```

use crate::ast::Lifecycle;
use crate::compose::asked::{asked_by_each, question};
use crate::errors::Sink;
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC177",
    name: "circular_regions",
    group: Group::Regions,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// Reports the first circle.
pub(super) fn check(lifecycle: &Lifecycle, sink: &mut Sink) {
    let Some(circle) = find_circle(lifecycle) else {
        return;
    };
    let name = |region: &usize| &lifecycle.regions[*region].name;
    let first = name(&circle[0]);
    let names: Vec<String> = circle
        .iter()
        .chain([&circle[0]])
        .map(|one| format!("`{}`", name(one)))
        .collect();
    let message = match circle.len() {
        1 => format!("region `{first}` asks its own state"),
        _ => format!("regions wait for each other: {}", names.join(" asks ")),
    };
    let help = match circle.len() {
        1 => "ask the facts that decide it",
        _ => "let one of them ask a fact of the root instead, or join them to one region",
    };
    let mut found = RULE.finding(first.span(), first.to_string(), message);
    for (one, asked) in circle.iter().zip(circle.iter().cycle().skip(1)) {
        if let Some(place) = question(&lifecycle.regions[*one].part, name(asked)) {
            found = found.note(place.span(), format!("`{}` asks `{place}` here", name(one)));
        }
    }
    sink.push(found.help(help));
}

/// Returns a shortest circle that begins at the first region that is in one.
pub(crate) fn find_circle(lifecycle: &Lifecycle) -> Option<Vec<usize>> {
    let asks = asked_by_each(lifecycle);
    (0..asks.len()).find_map(|start| {
        let mut paths = vec![vec![start]];
        let mut seen = vec![false; asks.len()];
        while !paths.is_empty() {
            let mut longer = Vec::new();
            for path in paths {
                let last = *path.last().unwrap_or(&start);
                for next in &asks[last] {
                    if *next == start {
                        return Some(path);
                    }
                    if !std::mem::replace(&mut seen[*next], true) {
                        longer.push([path.as_slice(), &[*next]].concat());
                    }
                }
            }
            paths = longer;
        }
        None
    })
}
