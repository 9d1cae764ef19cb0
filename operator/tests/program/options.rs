//! The table of options in `docs/install.md` has each option of the Listener operator, with its variable and its default.

use std::collections::BTreeSet;

use clap::{Arg, ArgAction, Command, CommandFactory};
use lifecycle_listener::args::Arguments;

const PAGE: &str = include_str!("../../../docs/install.md");

/// An option, its variable and its default.
type Row = (String, String, String);

fn row(argument: &Arg) -> Option<Row> {
    let long = argument.get_long()?;
    let variable = argument.get_env()?.to_str()?.to_owned();
    let default = argument.get_default_values().first();
    let default = match (default, argument.get_action()) {
        (_, ArgAction::SetTrue) => "off",
        (Some(value), _) => value.to_str()?,
        (None, _) => "none",
    };
    Some((format!("--{long}"), variable, default.to_owned()))
}

fn options(command: &Command) -> BTreeSet<Row> {
    command.get_arguments().filter_map(row).collect()
}

#[test]
fn the_table_of_options_is_that_of_the_program() {
    let command = Arguments::command();
    let run = command.find_subcommand("run").unwrap();
    let mut declared = options(run);
    for part in ["controller", "node"] {
        declared.extend(options(run.find_subcommand(part).unwrap()));
    }
    assert!(declared.len() > 20, "{declared:?}");
    let rows = PAGE.lines().filter(|line| line.starts_with("| `--"));
    let row = |line: &str| {
        let cells: Vec<String> = line
            .split('|')
            .map(|cell| cell.trim().replace('`', ""))
            .collect();
        assert!(cells.len() == 6 && !cells[4].is_empty(), "{line}");
        (cells[1].clone(), cells[2].clone(), cells[3].clone())
    };
    let listed: BTreeSet<Row> = rows.map(row).collect();
    assert_eq!(listed, declared);
}
