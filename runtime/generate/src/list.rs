//! List of the lifecycles of a program, one per line.

use lifecycle_runtime::machine::ir::{Lifecycle, Mode};

/// Returns a table for a terminal: name, trigger, number of states, writes, and first sentence of
/// each lifecycle.
pub fn render(lifecycles: &[&Lifecycle]) -> String {
    let head = ["NAME", "DRIVEN BY", "STATES", "WRITES", "DESCRIPTION"].map(str::to_owned);
    let mut rows = vec![head];
    rows.extend(lifecycles.iter().map(|lifecycle| row(lifecycle)));
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..4).map(width).collect();
    let lines = rows.iter().map(|row| {
        let cells = row.iter().enumerate();
        let cells = cells.map(|(column, cell)| match widths.get(column) {
            Some(width) => format!("{cell:width$}   "),
            None => cell.clone(),
        });
        cells.collect::<String>().trim_end().to_owned() + "\n"
    });
    lines.collect()
}

fn row(lifecycle: &Lifecycle) -> [String; 5] {
    let driven = if lifecycle.volume { "calls" } else { "watches" };
    let written = lifecycle.inputs.iter().filter(|input| match input.mode {
        Mode::Owned | Mode::Shared | Mode::Part => true,
        Mode::Watched
        | Mode::Record
        | Mode::Noted
        | Mode::Poll
        | Mode::Probe
        | Mode::Clock
        | Mode::Group => false,
    });
    let mut written: Vec<&str> = written.map(|input| input.kind).collect();
    written.sort_unstable();
    written.dedup();
    let sentence = lifecycle.doc.lines().next().unwrap_or_default();
    [
        lifecycle.name.to_owned(),
        driven.to_owned(),
        lifecycle.states.len().to_string(),
        if written.is_empty() {
            "-".to_owned()
        } else {
            written.join(",")
        },
        sentence.to_owned(),
    ]
}
