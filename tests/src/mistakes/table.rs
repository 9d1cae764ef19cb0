//! The table of the documentation: which instrument finds which mistake. Each instrument holds its own column; `BLESS=1` writes it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::Mistake;

/// Name of the markers around the table.
const MISTAKES: &str = "seeded mistakes";

/// Tool that claims to find bugs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instrument {
    /// Random lifecycles, checked against their meaning.
    Random,
    /// The generated suites of small lifecycles.
    Suite,
    /// The generated suite of the Listener.
    Listener,
    /// The generated suite of Skupper's Site.
    Sites,
    /// The simulated server beside a real one.
    Differential,
    /// The generated suite of the Listener, with the mistake on a real API server alone.
    Real,
}

const COLUMNS: [(Instrument, &str); 6] = [
    (Instrument::Random, "random lifecycles"),
    (Instrument::Suite, "suite, small lifecycles"),
    (Instrument::Listener, "suite, Listener"),
    (Instrument::Sites, "suite, Skupper Site"),
    (Instrument::Differential, "differential"),
    (Instrument::Real, "real server, Listener"),
];

/// Result of an instrument on a seeded bug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Found, with the finding.
    Found(String),
    /// It goes unnoticed.
    Missed,
    /// Cannot be seeded there, with the reason.
    NotPlanted(&'static str),
}

/// Seeded bugs that go unnoticed, each with a reason. Either the reason shows that this is no
/// weakness of the instrument, or the weakness is left as one.
const MISSED: &[(Instrument, Mistake, &str)] = &[
    (
        Instrument::Random,
        Mistake::Creation,
        "nobody acts while a write is on its way",
    ),
    (
        Instrument::Random,
        Mistake::Identity,
        "nobody acts while a write is on its way",
    ),
    (
        Instrument::Random,
        Mistake::Blindness,
        "a watch that is renewed sees again",
    ),
    (
        Instrument::Random,
        Mistake::Reach,
        "none of the 39 lifecycles that delete something shows it",
    ),
    (
        Instrument::Random,
        Mistake::Breakdown,
        "no server fails there",
    ),
    (
        Instrument::Differential,
        Mistake::Identity,
        "no sequence names a uid",
    ),
    (
        Instrument::Differential,
        Mistake::Adoption,
        "no watch sees an object with owners and without",
    ),
    (
        Instrument::Differential,
        Mistake::Blindness,
        "no sequence lists and watches at once",
    ),
    (
        Instrument::Listener,
        Mistake::Order,
        "what a fact answers is taken from the driver",
    ),
    (
        Instrument::Listener,
        Mistake::Identity,
        "not in so few schedules",
    ),
    (
        Instrument::Real,
        Mistake::Fence,
        "it rests in the same in the end",
    ),
    (
        Instrument::Real,
        Mistake::Creation,
        "nobody takes the place of a Service in so few schedules",
    ),
    (
        Instrument::Real,
        Mistake::Identity,
        "nobody takes the place of a Service in so few schedules",
    ),
    (
        Instrument::Real,
        Mistake::Adoption,
        "nobody takes the place of a Service in so few schedules",
    ),
    (
        Instrument::Real,
        Mistake::Deafness,
        "nothing that is only watched is edited in so few schedules",
    ),
];

/// One at a time reads and writes.
static TURN: Mutex<()> = Mutex::new(());

/// Checks the column of an instrument against the findings.
///
/// # Panics
/// Panics if the documentation differs and no rewrite was requested, or if something is missed
/// without a reason in the list.
pub fn hold(instrument: Instrument, verdicts: &BTreeMap<Mistake, Verdict>) {
    let cells = Mistake::all().map(|mistake| cell(instrument, mistake, &verdicts[&mistake]));
    let cells: Vec<String> = cells.collect();
    between(MISTAKES, |now| {
        let mut columns = read(now);
        columns.insert(instrument, cells);
        written(&columns)
    });
}

/// Checks the documentation between the marks of this name against its desired text. `BLESS=1`
/// writes it.
///
/// # Panics
/// Panics if the text differs and no rewrite was requested.
pub fn between(name: &str, wanted: impl FnOnce(&str) -> String) {
    between_in("suite.md", name, wanted);
}

/// The same of this page.
///
/// # Panics
/// As `between`.
pub fn between_in(page: &str, name: &str, wanted: impl FnOnce(&str) -> String) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let document = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs")
        .join(page);
    let text = std::fs::read_to_string(&document).expect("the documentation can be read");
    let (begin, end) = (
        format!("<!-- {name}, made by the tests -->\n"),
        format!("<!-- end of {name} -->"),
    );
    let begin = text.find(&begin).expect("the table begins") + begin.len();
    let end = text.find(&end).expect("the table ends");
    let now = &text[begin..end];
    let wanted = wanted(now);
    if wanted == now {
        return;
    }
    if std::env::var_os("BLESS").is_some() {
        let text = format!("{}{wanted}{}", &text[..begin], &text[end..]);
        return std::fs::write(document, text).expect("the documentation can be written");
    }
    let unlike = now
        .lines()
        .zip(wanted.lines())
        .filter(|(now, wanted)| now != wanted);
    let unlike: Vec<String> = unlike
        .map(|(now, wanted)| format!("{now}\n{wanted}"))
        .collect();
    let unlike = unlike.join("\n\n");
    panic!(
        "docs/{page} is not up to date; run this test once with BLESS=1. It says, and should say:\n\n{unlike}"
    );
}

fn cell(instrument: Instrument, mistake: Mistake, verdict: &Verdict) -> String {
    let mut listed = MISSED.iter();
    let listed = listed.find(|(of, what, _)| (*of, *what) == (instrument, mistake));
    let name = mistake.name();
    match (verdict, listed) {
        (Verdict::Found(by), None) => by.clone(),
        (Verdict::NotPlanted(why), None) => format!("– {why}"),
        (Verdict::Missed, Some((.., why))) => format!("**no**: {why}"),
        (Verdict::Missed, None) => {
            panic!(
                "{instrument:?} misses `{name}`: mend it, or say why in the list of what is missed"
            )
        }
        (found, Some(_)) => {
            panic!("{instrument:?} does not miss `{name}` ({found:?}): take it off the list")
        }
    }
}

/// Returns the columns of the existing table.
fn read(table: &str) -> BTreeMap<Instrument, Vec<String>> {
    let cells = |line: &str| -> Vec<String> {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    let mut lines = table
        .lines()
        .filter(|line| line.starts_with('|'))
        .map(cells);
    let head = lines.next().unwrap_or_default();
    let rows: Vec<Vec<String>> = lines.skip(1).collect();
    let column = |name: &str| -> Vec<String> {
        let place = head.iter().position(|cell| cell == name);
        let of = |mistake: Mistake| {
            let row = rows.iter().find(|row| row[0] == mistake.name());
            let cell = row.zip(place).and_then(|(row, place)| row.get(place));
            cell.cloned().unwrap_or_default()
        };
        Mistake::all().map(of).collect()
    };
    let columns = COLUMNS.iter();
    columns
        .map(|(which, name)| (*which, column(name)))
        .collect()
}

fn written(columns: &BTreeMap<Instrument, Vec<String>>) -> String {
    let names = COLUMNS.map(|(_, name)| name).join(" | ");
    let mut text = format!("| mistake | | rustc, check | {names} |\n");
    text += &"| --- ".repeat(COLUMNS.len() + 3);
    text += "|\n";
    for (place, mistake) in Mistake::all().enumerate() {
        let cells = COLUMNS.map(|(which, _)| columns[&which][place].as_str());
        let cells = cells.join(" | ");
        writeln!(
            text,
            "| {} | {} | – not in a declaration | {cells} |",
            mistake.name(),
            mistake.description()
        )
        .expect("a text takes everything");
    }
    text
}
