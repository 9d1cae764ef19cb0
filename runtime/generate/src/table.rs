//! A table of Markdown. Knows how a cell is written, and nothing of lifecycles.

/// A table, a row at a time; without rows it is nothing.
pub(crate) struct Table {
    head: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(head: &[&'static str]) -> Self {
        Self {
            head: head.to_vec(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells = cells.into_iter().map(|cell| one_line(&cell));
        self.rows.push(cells.collect());
    }

    /// Below a heading, with an empty line behind; nothing without rows.
    pub(crate) fn under(&self, heading: &str) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        format!("## {heading}\n\n{}\n", self.text())
    }

    /// Returns the table as text, without empty columns.
    pub(crate) fn text(&self) -> String {
        let used = |column: &usize| self.rows.iter().any(|row| !row[*column].is_empty());
        let columns: Vec<usize> = (0..self.head.len()).filter(used).collect();
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let cells: Vec<_> = cells.collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut text = line(&mut columns.iter().map(|at| self.head[*at]));
        text += &line(&mut columns.iter().map(|_| "---"));
        for row in &self.rows {
            text += &line(&mut columns.iter().map(|at| &*row[*at]));
        }
        text
    }
}

/// Code within a cell; nothing of nothing.
pub(crate) fn code(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("`{text}`")
    }
}

/// A bar would end the cell, and a line its row.
fn one_line(cell: &str) -> String {
    cell.replace('|', "\\|").replace('\n', " ")
}
