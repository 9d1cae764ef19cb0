//! The pages of several lifecycles in one folder, with a picture of each and a list of all.

use lifecycle_runtime::lifecycle::Machine;

use crate::diagram::{self, Format};
use crate::page;
use crate::program::file_name;
use crate::table::{Table, code};

/// A file of the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name.
    pub name: String,
    /// All that is in it.
    pub text: String,
}

/// The list, and a page and a picture of each lifecycle.
///
/// # Errors
/// If a picture cannot be laid out.
pub fn render(machines: &[&dyn Machine]) -> Result<Vec<File>, diagram::Error> {
    let mut files = vec![File {
        name: "README.md".to_owned(),
        text: list(machines),
    }];
    for machine in machines {
        let name = file_name(*machine);
        files.push(File {
            name: format!("{name}.md"),
            text: page::render(machine.ir())?,
        });
        files.push(File {
            name: format!("{name}.svg"),
            text: diagram::render(machine.ir(), Format::Svg)?,
        });
    }
    Ok(files)
}

fn list(machines: &[&dyn Machine]) -> String {
    let mut table = Table::new(&["Lifecycle", "Of", "States", "Description", "Picture"]);
    for machine in machines {
        let (lifecycle, file) = (machine.ir(), file_name(*machine));
        table.row([
            format!("[{}]({file}.md)", lifecycle.name),
            code(
                &machine
                    .subject()
                    .map_or("calls of volumes".to_owned(), |_| file.clone()),
            ),
            lifecycle.states.len().to_string(),
            lifecycle.doc.trim().to_owned(),
            format!("[{file}.svg]({file}.svg)"),
        ]);
    }
    format!("# Lifecycles\n\n{}\n", table.text().trim_end())
}
