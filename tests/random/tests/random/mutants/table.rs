//! Tables of `docs/suite.md` that count: a row for each sort of things, a column for each thing that may become of them. `BLESS=1` writes them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lifecycle_tests::mistakes::table::between;

/// Counts of mutants by sort and outcome.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<&'static str>,
    rows: BTreeMap<Vec<String>, Vec<usize>>,
}

impl Table {
    pub(crate) fn new(columns: &[&'static str]) -> Self {
        Self {
            columns: columns.to_vec(),
            rows: BTreeMap::new(),
        }
    }

    pub(crate) fn count(&mut self, sort: &[&str], column: usize) {
        let sort = sort.iter().map(|&part| part.to_owned()).collect();
        let row = self.rows.entry(sort);
        row.or_insert_with(|| vec![0; self.columns.len().max(1)])[column] += 1;
    }

    fn text(&self, sorts: &[&str]) -> String {
        let head: Vec<&str> = sorts
            .iter()
            .copied()
            .chain(["mutants"])
            .chain(self.columns.iter().copied())
            .collect();
        let mut text = format!("| {} |\n", head.join(" | "));
        text += &format!("{}|\n", "| --- ".repeat(head.len()));
        let mut all = vec![0; self.columns.len().max(1)];
        let mut line = |sort: &[String], row: &[usize]| {
            let mutants: usize = row.iter().sum();
            let counts = row.iter().take(self.columns.len());
            let counts: String = counts.map(|count| format!(" {count} |")).collect();
            let sort = sort.join(" | ");
            writeln!(text, "| {sort} | {mutants} |{counts}").expect("a text takes everything");
        };
        for (sort, row) in &self.rows {
            line(sort, row);
            for (sum, count) in all.iter_mut().zip(row) {
                *sum += count;
            }
        }
        let mut last = vec![String::new(); sorts.len()];
        "all".clone_into(&mut last[0]);
        line(&last, &all);
        text
    }

    /// Checks the table against the text between the marks of this name.
    pub(crate) fn hold(&self, name: &str, sorts: &[&str]) {
        between(name, |_| self.text(sorts));
    }
}
