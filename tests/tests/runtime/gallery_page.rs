//! Second table of `docs/gallery.md`: the coverage of the suites of its lifecycles. Each suite
//! checks its own line; `BLESS=1` writes it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lifecycle_tests::mistakes::table::between_in;

use crate::faults_gallery::REAL;

const HEAD: &str = "| lifecycle | moves in a row | states | transitions | on a real API server |\n| --- | --- | --- | --- | --- |\n";

/// Returns the seen and total counts that a report contains after this word.
fn parse_counts(report: &str, word: &str) -> (usize, usize) {
    let (_, rest) = report.split_once(word).expect("a report says it");
    let mut words = rest.split([' ', ',', '\n']);
    let seen = words.next().and_then(|word| word.parse().ok());
    let all = words.nth(1).and_then(|word| word.parse().ok());
    seen.zip(all).expect("a report says how many of how many")
}

/// Checks the line of a lifecycle: at least everything that the page lists as seen is seen.
#[track_caller]
pub(crate) fn check_row(name: &str, depth: usize, report: &str) {
    let (states, edges) = (
        parse_counts(report, "states: "),
        parse_counts(report, "transitions: "),
    );
    let real = match REAL.iter().any(|(real, _)| *real == name) {
        true => "yes",
        false => "no",
    };
    between_in("gallery.md", "suites", |now| {
        let lines = now.lines().skip(2).filter_map(cells);
        let mut lines: BTreeMap<String, Line> = lines.collect();
        let seen = Line {
            depth,
            states,
            edges,
            real: real.to_owned(),
        };
        let blesses = std::env::var_os("BLESS").is_some();
        let holds = lines
            .get(name)
            .is_some_and(|line| !blesses && line.holds(&seen));
        if !holds {
            lines.insert(name.to_owned(), seen);
        }
        let mut text = HEAD.to_owned();
        for (name, line) in lines {
            let Line {
                depth,
                states,
                edges,
                real,
            } = line;
            let ((states, of), (edges, of_edges)) = (states, edges);
            writeln!(
                text,
                "| `{name}` | {depth} | {states} of {of} | {edges} of {of_edges} | {real} |"
            )
            .expect("a text takes everything");
        }
        text
    });
}

/// A line of the table.
struct Line {
    depth: usize,
    states: (usize, usize),
    edges: (usize, usize),
    real: String,
}

impl Line {
    /// Returns true if the line agrees with the observed results.
    fn holds(&self, seen: &Self) -> bool {
        let is_in =
            |(said, of): (usize, usize), (seen, all): (usize, usize)| said <= seen && of == all;
        self.depth == seen.depth
            && self.real == seen.real
            && is_in(self.states, seen.states)
            && is_in(self.edges, seen.edges)
    }
}

fn cells(line: &str) -> Option<(String, Line)> {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let &[name, depth, states, edges, real] = &*cells else {
        return None;
    };
    let pair = |text: &str| {
        let (seen, all) = text.split_once(" of ")?;
        Some((seen.parse().ok()?, all.parse().ok()?))
    };
    let line = Line {
        depth: depth.parse().ok()?,
        states: pair(states)?,
        edges: pair(edges)?,
        real: real.to_owned(),
    };
    Some((name.trim_matches('`').to_owned(), line))
}
