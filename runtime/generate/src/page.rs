//! A page of documentation of one lifecycle, for people who use the resource or run the operator: Markdown, without a newline more than it needs.

mod acts;
mod volume;
mod writes;

use lifecycle_runtime::machine::ir::{Lifecycle, Origin, Phase, RegionId, State};

use crate::diagram::{self, Format};
use crate::names;
use crate::table::{Table, code};

/// Returns the page: states, actors, wakes, conditions with their reasons, reads and writes, and
/// calls.
///
/// # Errors
/// If its diagram cannot be drawn.
pub fn render(lifecycle: &Lifecycle) -> Result<String, diagram::Error> {
    let diagram = diagram::render(lifecycle, Format::Mermaid)?;
    let mut text = format!("# {}\n\n{}\n\n", lifecycle.name, lifecycle.doc.trim());
    text += &format!("```mermaid\n{diagram}```\n\n");
    text += &states(lifecycle);
    text += &regions(lifecycle);
    text += &conditions(lifecycle);
    text += &status(lifecycle);
    text += &inputs(lifecycle);
    text += &facts(lifecycle);
    text += &writes::effects(lifecycle);
    text += &writes::promises(lifecycle);
    text += &writes::deletion(lifecycle);
    text += &volume::calls(lifecycle);
    Ok(text.trim_end().to_owned() + "\n")
}

fn states(lifecycle: &Lifecycle) -> String {
    let text = table_of_states(lifecycle, None).under("States");
    if text.is_empty() || lifecycle.volume {
        return text;
    }
    text + "The first state that matches applies. An object that is being deleted reports `Deleting`. If a write was refused and no state covers that, the object reports `Refused`.\n\n"
}

/// Returns the states of each region.
fn regions(lifecycle: &Lifecycle) -> String {
    if lifecycle.regions.is_empty() {
        return String::new();
    }
    let root = lifecycle.states.iter().any(|state| state.region.is_none());
    let when = match root {
        true => "Where none of these states matches, the object is",
        false => "The object is",
    };
    let mut text = format!("## Regions\n\n{when} in one state of each region.\n\n");
    for (id, region) in lifecycle.regions.entries() {
        let counts = match region.counts {
            true => "It counts for `Ready`.",
            false => "It does not count for `Ready`.",
        };
        let doc = [region.doc.trim(), counts].join(" ");
        let table = table_of_states(lifecycle, Some(id)).text();
        text += &format!("### {}\n\n{}\n\n{table}\n", code(region.name), doc.trim());
    }
    text
}

fn table_of_states(lifecycle: &Lifecycle, region: Option<RegionId>) -> Table {
    let head: &[&str] = if lifecycle.volume {
        &["State", "Description", "Where"]
    } else {
        &[
            "State",
            "Phase",
            "Description",
            "Where",
            "Who acts",
            "Too long after",
        ]
    };
    let mut table = Table::new(head);
    let states = lifecycle.states.iter();
    for state in states.filter(|state| state.region == region) {
        let (name, doc) = (code(state.name), state.doc.trim().to_owned());
        let place = code(&state.when.describe(lifecycle));
        if lifecycle.volume {
            table.row([name, doc, place]);
        } else {
            let acts = acts::describe_actor(lifecycle, state);
            let phase = state.phase.as_str().to_owned();
            table.row([name, phase, doc, place, acts, overdue(state)]);
        }
    }
    table
}

/// Only who moves by itself can take too long.
fn overdue(state: &State) -> String {
    let moves = state.phase == Phase::Pending && state.wakes.is_none();
    if moves {
        names::length(&state.overdue)
    } else {
        String::new()
    }
}

fn conditions(lifecycle: &Lifecycle) -> String {
    let mut table = Table::new(&["Condition", "Status", "Reason", "Where", "Event"]);
    for condition in lifecycle.conditions {
        for clause in condition.clauses {
            let status = clause.says.status().map_or("not written", |s| s.as_str());
            let place = match &clause.when {
                Some(when) => code(&when.describe(lifecycle)),
                None => "otherwise".to_owned(),
            };
            table.row([
                code(condition.name),
                status.to_owned(),
                code(clause.reason),
                place,
                code(clause.event.unwrap_or_default()),
            ]);
        }
    }
    let documented = lifecycle
        .conditions
        .iter()
        .filter(|condition| !condition.doc.is_empty());
    let said = documented.map(|one| format!("* `{}`: {}\n", one.name, one.doc.trim()));
    let said: String = said.collect();
    let text = table.under("Conditions");
    let gap = if said.is_empty() { "" } else { "\n" };
    text + &said + gap + &ready(lifecycle)
}

fn ready(lifecycle: &Lifecycle) -> String {
    let ready = lifecycle.ready.from.iter();
    let ready = ready.map(|at| code(lifecycle.conditions[*at].name));
    let ready: Vec<_> = ready.collect();
    if ready.is_empty() {
        return String::new();
    }
    let kstatus = if lifecycle.kstatus {
        " `Reconciling` and `Stalled` exist only while they are True, and `status.observedGeneration` is the generation that the status describes."
    } else {
        ""
    };
    format!(
        "The first clause that matches applies. `Ready` is True if {} are met, and otherwise repeats the first one that is not met.{kstatus}\n\n",
        ready.join(", ")
    )
}

fn status(lifecycle: &Lifecycle) -> String {
    let fields: Vec<_> = lifecycle
        .fields
        .iter()
        .map(|field| code(field.name))
        .collect();
    if fields.is_empty() {
        return String::new();
    }
    format!("Further fields of the status: {}.\n\n", fields.join(", "))
}

fn inputs(lifecycle: &Lifecycle) -> String {
    let mut table = Table::new(&["Input", "What", "How it is found", "Read where", "Why"]);
    for input in lifecycle.inputs {
        let given = input.given.as_ref();
        let given = given.map_or(String::new(), |given| code(&given.describe(lifecycle)));
        table.row([
            code(input.name),
            code(&names::describe_input(lifecycle, input)),
            names::lookup(input),
            given,
            input.doc.trim().to_owned(),
        ]);
    }
    table.under("Inputs")
}

fn facts(lifecycle: &Lifecycle) -> String {
    let mut table = Table::new(&["Fact", "Values", "Asked where", "Description"]);
    let declared = lifecycle.vars.iter().filter(|var| match var.origin {
        Origin::Fact => true,
        Origin::Input(_) | Origin::Refused(_) | Origin::Deleting | Origin::Claimed => false,
    });
    for var in declared {
        let given = var.given.iter();
        let given: Vec<_> = given.map(|guard| guard.pred.describe(lifecycle)).collect();
        table.row([
            code(var.name),
            var.values.join(", "),
            code(&given.join(" and ")),
            var.doc.trim().to_owned(),
        ]);
    }
    table.under("Facts")
}
