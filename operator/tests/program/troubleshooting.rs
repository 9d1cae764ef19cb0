//! Checks that `docs/troubleshooting.md` has a row for each Listener reason, each state of a
//! Skupper kind and each volume message. No row may name anything nonexistent.

use std::collections::BTreeSet;
use std::fs;

use lifecycle_operator::parts::program;
use lifecycle_runtime::machine::backoff::Backoff;
use lifecycle_runtime::machine::ir::{Lifecycle, Phase};

use crate::generated::root;

const PAGE: &str = include_str!("../../../docs/troubleshooting.md");
const LISTENER: &str = "## A Listener";
const VOLUME: &str = "## A volume";
const SKUPPER: &str = "## Skupper";
/// Heads the states that several kinds of Skupper have.
const SEVERAL: &str = "Several kinds";

/// Reasons that no lifecycle declares, each with the source that writes it.
const OTHERS: [(&str, &str); 12] = [
    ("InputUnreadable", OBSERVE),
    ("BuildFailed", OBSERVE),
    ("OutOfOrder", OBSERVE),
    ("NeverWorld", RULED_OUT),
    ("NoState", RULED_OUT),
    ("UndeclaredOutcome", RULED_OUT),
    (
        "Contradiction",
        include_str!("../../../runtime/src/controller/report.rs"),
    ),
    (
        "Deleting",
        include_str!("../../../runtime/src/controller/report.rs"),
    ),
    (
        "Undecodable",
        include_str!("../../../runtime/src/controller/undecodable.rs"),
    ),
    (
        "RepeatedWrites",
        include_str!("../../../runtime/src/controller/brake.rs"),
    ),
    (
        "ApplyStatus",
        include_str!("../../../runtime/src/controller/complete.rs"),
    ),
    (
        "PresetDiffers",
        include_str!("../../listener/src/presets.rs"),
    ),
];
const OBSERVE: &str = include_str!("../../../runtime/src/cluster/observe.rs");
const RULED_OUT: &str = include_str!("../../../runtime/src/controller/ruled_out.rs");
const REPORTED: &str = include_str!("../../../runtime/inspect/src/explain/reported.rs");

/// Reasons of `Ready` by the state that has them. `explain` has a text of each state.
const BY_STATE: [(&str, &[&str]); 12] = [
    ("NoName", &["NoListenerClass"]),
    ("NoClass", &["ListenerClassNotFound"]),
    ("NotAllowed", &["NamespaceNotAllowed", "OverrideNotAllowed"]),
    (
        "Invalid",
        &[
            "NoPorts",
            "PortClash",
            "InvalidPort",
            "InvalidName",
            "InvalidOverride",
        ],
    ),
    ("Conflict", &["ForeignService"]),
    ("Rejected", &["Refused"]),
    ("Draining", &["ServiceTerminating"]),
    ("Applying", &["Applying"]),
    ("Stranded", &["PinnedNodeGone"]),
    ("Idle", &["NoPod"]),
    ("Provisioning", &["WaitingForLoadBalancer"]),
    ("Ready", &["Ready"]),
];

/// Everything that answers calls of a Listener volume with a message.
const MESSAGES: [&str; 11] = [
    include_str!("../../../specs/listener/src/listener_mount.rs"),
    include_str!("../../../specs/listener/src/listener_provisioning.rs"),
    include_str!("../../listener/src/listener/permission.rs"),
    include_str!("../../listener/src/volume/claim.rs"),
    include_str!("../../listener/src/volume/exposure.rs"),
    include_str!("../../listener/src/volume/listener.rs"),
    include_str!("../../listener/src/volume/mount.rs"),
    include_str!("../../listener/src/volume/provisioning.rs"),
    include_str!("../../listener/src/volume/tree/error.rs"),
    include_str!("../../../runtime/csi/src/call/locks.rs"),
    include_str!("../../../runtime/csi/src/call/run.rs"),
];
const SENTENCES: &str = include_str!("../../../runtime/src/cluster/observe/sentences.rs");

/// The text below a heading, up to the next heading that is not below it.
fn section(heading: &str) -> &'static str {
    let start = format!("\n{heading}\n");
    let (_, rest) = PAGE
        .split_once(start.as_str())
        .unwrap_or_else(|| panic!("the page has no heading `{heading}`"));
    rest.split("\n## ").next().unwrap()
}

/// The words in backticks in the first column of the tables of a text.
fn first_column(text: &'static str) -> BTreeSet<&'static str> {
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.filter_map(|row| row.strip_prefix("| ")?.split(" | ").next());
    let words = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    words.collect()
}

/// The lifecycles that a crate declares, those of volumes or the others.
fn declared_in(name: &str, volumes: bool) -> Vec<&'static Lifecycle> {
    let mut all = program().lifecycles();
    all.retain(|ir| ir.path.starts_with(name) && ir.volume == volumes);
    assert!(!all.is_empty(), "no lifecycle is declared in {name}");
    all
}

/// The reasons of conditions and events that a lifecycle declares.
fn reasons(ir: &Lifecycle) -> BTreeSet<&'static str> {
    let clauses = ir.conditions.iter().flat_map(|one| one.clauses);
    let written = clauses.filter(|clause| clause.says.status().is_some());
    let mut all: BTreeSet<&'static str> = written
        .flat_map(|clause| [Some(clause.reason), clause.event])
        .flatten()
        .collect();
    all.insert(ir.ready.reason);
    all.extend(ir.implicit.iter().map(|implicit| implicit.reason));
    all
}

fn others() -> BTreeSet<&'static str> {
    OTHERS.iter().map(|(reason, _)| *reason).collect()
}

#[test]
fn each_reason_of_a_listener_has_its_row_and_no_row_has_another() {
    let mut all = others();
    for ir in declared_in("lifecycle_specs_listener::", false) {
        all.extend(reasons(ir));
    }
    assert!(all.len() > 30, "{all:?}");
    assert_eq!(first_column(section(LISTENER)), all);
}

/// Returns the actors that the row of a reason names. The last cell of the row gives a person an
/// instruction, unless it advises waiting.
fn actors(reason: &str) -> &'static [&'static str] {
    let start = format!("| `{reason}` |");
    let mut rows = section(LISTENER)
        .lines()
        .filter(|row| row.starts_with(&start));
    let row = rows.next().unwrap_or_else(|| panic!("no row of {reason}"));
    let todo = row.trim_end_matches(" |").rsplit(" | ").next();
    match todo.and_then(|todo| todo.split(['.', ' ', ';']).next()) {
        Some("nothing") => &["nobody"],
        Some("wait") => &["the cluster", "the operator"],
        Some(_) | None => &["a person"],
    }
}

#[test]
fn the_page_and_explain_agree_on_who_must_act_for_each_reason_of_a_listener() {
    let folder = root().join("operator/listener/tests/e2e/explain");
    for (state, reasons) in BY_STATE {
        let text = fs::read_to_string(folder.join(format!("{state}.txt"))).unwrap();
        let (_, rest) = text.split_once("\nWho must act\n").unwrap();
        let acts = rest.lines().take_while(|line| !line.is_empty());
        let told: Vec<&str> = acts
            .filter_map(|act| act.trim().split(": ").next())
            .collect();
        assert!(!told.is_empty(), "{state}");
        for reason in reasons {
            let wanted = actors(reason);
            let agrees = told.iter().all(|actor| wanted.contains(actor));
            assert!(
                agrees,
                "{reason}: the page says {wanted:?}, `explain` {told:?}"
            );
        }
    }
    let listener = declared_in("lifecycle_specs_listener::", false);
    let mut conditions = listener.iter().flat_map(|ir| ir.conditions);
    let first = conditions.find(|one| one.name == "Accepted").unwrap();
    let held: BTreeSet<&str> = BY_STATE.iter().flat_map(|(_, all)| *all).copied().collect();
    let mut unmet = first.clauses.iter().map(|clause| clause.reason);
    assert!(unmet.all(|reason| reason == "Accepted" || held.contains(reason)));
    // It has no state: the Listener is as Ready as without.
    assert_eq!(actors("OverrideNotMatched"), ["a person"]);
}

#[test]
fn each_reason_that_no_lifecycle_declares_is_written_by_its_source() {
    for (reason, source) in OTHERS {
        assert!(
            source.contains(&format!("\"{reason}\"")),
            "nothing says {reason}"
        );
    }
}

#[test]
fn the_pages_name_the_pauses_of_a_refused_write() {
    let Backoff { first, longest } = Backoff::REFUSED;
    let minutes = |factor: u64| factor * first.as_secs() / 60;
    let pauses = format!(
        "after {} min, {} min, {} min up to {} h",
        minutes(1),
        minutes(2),
        minutes(4),
        longest.as_secs() / 3600
    );
    for page in [
        "docs/troubleshooting.md",
        "docs/deploy.md",
        "docs/outside.md",
        "docs/language/trait.md",
        "docs/language/predicates.md",
        "runtime/src/lifecycle/call.rs",
    ] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        assert!(text.contains(&pauses), "{page} does not say `{pauses}`");
    }
}

/// The words in quotation marks of the one piece of a source between two texts.
fn quoted<'a>(source: &'a str, begin: &str, end: &str) -> BTreeSet<&'a str> {
    let (_, rest) = source
        .split_once(begin)
        .unwrap_or_else(|| panic!("no source has `{begin}`"));
    let (piece, _) = rest.split_once(end).unwrap();
    piece.split('"').skip(1).step_by(2).collect()
}

/// `explain` takes a status for one about a failure by these reasons.
#[test]
fn explain_knows_each_reason_of_a_failure_and_no_other() {
    let reason = "fn reason(&self) -> &'static str {";
    let mut all = quoted(OBSERVE, reason, "\n    }\n");
    all.extend(quoted(RULED_OUT, reason, "\n    }\n"));
    assert!(all.len() > 5, "{all:?}");
    assert_eq!(quoted(REPORTED, "const FAILURES: ", "];"), all);
}

/// The tables of states below the headings of kinds: the kinds, and the states.
fn tables() -> Vec<(Vec<&'static str>, BTreeSet<&'static str>)> {
    let parts = section(SKUPPER).split("\n### ").skip(1);
    let table = |part: &'static str| {
        let (heading, text) = part.split_once('\n').unwrap();
        let kinds: Vec<&'static str> = heading.split(", ").collect();
        (kinds, first_column(text))
    };
    parts.map(table).collect()
}

/// The states of the tables that are about a kind.
fn listed_of(kind: &'static str) -> BTreeSet<&'static str> {
    let is_about = |kinds: &[&str]| kinds.contains(&kind) || kinds.contains(&SEVERAL);
    let about = tables().into_iter().filter(|(kinds, _)| is_about(kinds));
    about.flat_map(|(_, states)| states).collect()
}

fn has_state(ir: &Lifecycle, name: &str) -> bool {
    ir.states.iter().any(|state| state.name == name)
}

#[test]
fn each_state_of_a_skupper_kind_in_which_somebody_waits_or_acts_has_its_row() {
    let mut missing = Vec::new();
    for ir in declared_in("lifecycle_specs_skupper::", false) {
        let listed = listed_of(ir.name);
        let unmet = ir.states.iter().filter(|state| state.phase != Phase::Ready);
        let unlisted = unmet.filter(|state| !listed.contains(state.name));
        missing.extend(unlisted.map(|state| format!("{} {}", ir.name, state.name)));
    }
    assert!(missing.is_empty(), "these states have no row: {missing:?}");
}

#[test]
fn no_table_of_a_skupper_kind_has_a_state_that_it_does_not_have() {
    let all = declared_in("lifecycle_specs_skupper::", false);
    let tables = tables();
    assert!(tables.len() > 8, "the tables were not found");
    for (kinds, states) in tables {
        let is_meant = |ir: &&&Lifecycle| kinds.contains(&SEVERAL) || kinds.contains(&ir.name);
        for state in states {
            let mut meant = all.iter().filter(is_meant);
            assert!(
                meant.any(|ir| has_state(ir, state)),
                "{kinds:?} have no state {state}"
            );
        }
    }
}

#[test]
fn each_reason_of_a_skupper_kind_stands_on_the_page() {
    let text = section(SKUPPER);
    let mut all = others();
    for ir in declared_in("lifecycle_specs_skupper::", false) {
        for reason in reasons(ir) {
            assert!(
                text.contains(&format!("`{reason}`")),
                "the page does not name {reason} of {}",
                ir.name
            );
            all.insert(reason);
        }
    }
    let (events, _) = text.split_once("\n### ").unwrap();
    let listed = first_column(events);
    assert!(listed.len() > 3, "the table of events was not found");
    let unknown: Vec<_> = listed.difference(&all).collect();
    assert!(unknown.is_empty(), "nothing has these reasons: {unknown:?}");
}

/// Returns the sources as one text, with continued string literals joined.
fn sources() -> String {
    let all = [MESSAGES.concat(), SENTENCES.to_owned()].concat();
    let lines: Vec<&str> = all.split("\\\n").map(str::trim_start).collect();
    lines.concat()
}

#[test]
fn each_message_of_a_volume_stands_in_the_code_that_gives_it() {
    let sources = sources();
    let listed = first_column(section(VOLUME));
    assert!(listed.len() > 25, "the tables were not found");
    for message in listed {
        for part in message.split("..").map(str::trim) {
            assert!(
                sources.contains(part),
                "nothing says `{part}` of `{message}`"
            );
        }
    }
}

#[test]
fn each_message_that_a_volume_declares_has_its_row() {
    let listed = first_column(section(VOLUME));
    let volumes = declared_in("lifecycle_specs_listener::", true);
    let calls = volumes.iter().flat_map(|ir| ir.calls);
    let declared = calls.flat_map(|call| call.refusals);
    let declared: BTreeSet<&str> = declared.filter_map(|refusal| refusal.why).collect();
    assert!(declared.len() > 5, "{declared:?}");
    let missing: Vec<_> = declared.difference(&listed).collect();
    assert!(
        missing.is_empty(),
        "these messages have no row: {missing:?}"
    );
}
