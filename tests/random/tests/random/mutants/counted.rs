//! All mutants of the gallery, judged on all cores: the tables of `docs/suite.md`, and the list of
//! mutants that no run detects. `MUTANTS=1` judges each, `BLESS=1` writes tables and list.
//! Otherwise a sample is checked against the list.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use lifecycle_random::cluster::Cluster;
use lifecycle_random::meant::Aspect;
use lifecycle_random::mutants::Mutant;

use super::gallery::numbered;
use super::judged::{Fate, Original};
use super::table::Table;
use crate::number_from;

/// Interval of judged mutants by default: one in this many.
const SHARE: u64 = 20;

/// Possible outcomes of a mutant, which are the columns of the table.
const COLUMNS: [&str; 6] = [
    "`check` refuses",
    "rustc meets other types",
    "a run shows it",
    "the same",
    "only read",
    "no run shows it",
];

fn is_long() -> bool {
    std::env::var("LONG").is_ok_and(|long| !long.is_empty() && long != "0")
}

pub(crate) fn each_mutant_of_the_gallery_is_judged() {
    let share = number_from("MUTANTS", if is_long() { 1 } else { SHARE });
    let (mut originals, mut tasks) = (Vec::new(), Vec::new());
    for name in numbered() {
        let (original, mutants) = Original::with_mutants(&name);
        tasks.extend(mutants.into_iter().map(|mutant| (originals.len(), mutant)));
        originals.push(original);
    }
    assert!(
        originals.len() > 15,
        "only {} declarations",
        originals.len()
    );
    let share = usize::try_from(share.max(1)).expect("a small number");
    let tasks: Vec<_> = tasks.into_iter().step_by(share).collect();
    let fates = judged(&originals, &tasks);
    assert_eq!(fates.len(), tasks.len(), "each is judged");
    let all = tasks.iter().zip(fates.values());
    let all = all.map(|((of, mutant), fate)| (originals[*of].name.as_str(), mutant, fate));
    let all: Vec<_> = all.collect();
    hold_list(&all, share == 1);
    if share == 1 {
        hold_tables(&all);
    }
}

fn judged(originals: &[Original], tasks: &[(usize, Mutant)]) -> BTreeMap<usize, Fate> {
    let (next, cluster) = (AtomicUsize::new(0), Cluster::new());
    let work = || {
        let (cluster, mut judged) = (cluster.copy(), Vec::new());
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((of, mutant)) = tasks.get(at) else {
                return judged;
            };
            judged.push((at, originals[*of].judge(mutant, &cluster)));
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let running: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let parts = running.into_iter();
        let all = parts.flat_map(|part| part.join().expect("no judge panics"));
        all.collect()
    })
}

fn join_aspects(aspects: &BTreeSet<Aspect>) -> String {
    let words: Vec<String> = aspects.iter().map(|a| a.name().to_owned()).collect();
    words.join(", ")
}

/// Why no run shows a mutant.
fn undetected_reason(reached: &BTreeSet<Aspect>) -> String {
    match reached.is_empty() {
        true => "no run came to a world in which it differs".to_owned(),
        false => format!(
            "a run came there, and held nothing against it: {}",
            join_aspects(reached)
        ),
    }
}

/// Holds those that no run shows against the list of them.
fn hold_list(all: &[(&str, &Mutant, &Fate)], whole: bool) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/random/mutants/unseen.txt");
    let listed = std::fs::read_to_string(&path).unwrap_or_default();
    let line = |(name, mutant, fate): &(&str, &Mutant, &Fate)| match fate {
        Fate::Unseen(differs, reached) => {
            let (name, why) = (
                format!("{name}: {}", mutant.name),
                undetected_reason(reached),
            );
            Some(format!(
                "{name}: differs in {}; {why}",
                join_aspects(differs)
            ))
        }
        Fate::Refused(_) | Fate::Met | Fate::Shown(_) | Fate::Same(_) => None,
    };
    let unseen: Vec<String> = all.iter().filter_map(line).collect();
    if whole && std::env::var_os("BLESS").is_some() {
        let text = unseen.join("\n") + "\n";
        return std::fs::write(path, text).expect("the list can be written");
    }
    let listed: BTreeSet<&str> = listed.lines().collect();
    let new = unseen.iter().filter(|line| !listed.contains(line.as_str()));
    let new: Vec<&String> = new.collect();
    assert!(
        new.is_empty(),
        "no run shows these, and they are not in the list: {new:#?}"
    );
    assert!(
        !whole || listed.len() == unseen.len(),
        "a run shows what is in the list"
    );
}

fn hold_tables(all: &[(&str, &Mutant, &Fate)]) {
    let mut declarations = Table::new(&COLUMNS);
    let mut changes = Table::new(&COLUMNS);
    let mut rules = Table::new(&[]);
    let mut shown = Table::new(&[]);
    let mut unseen = Table::new(&[]);
    for (name, mutant, fate) in all {
        let column = match fate {
            Fate::Refused(rule) => {
                rules.count(&[rule], 0);
                0
            }
            Fate::Met => 1,
            Fate::Shown(kind) => {
                shown.count(&[kind], 0);
                2
            }
            Fate::Same(read) if read.is_empty() => 3,
            Fate::Same(_) => 4,
            Fate::Unseen(_, reached) => {
                unseen.count(&[&undetected_reason(reached)], 0);
                5
            }
        };
        declarations.count(&[&format!("`{name}`")], column);
        let (section, what) = mutant.section_and_kind();
        changes.count(&[section, what], column);
    }
    let all = [
        ("mutants of the gallery", declarations, vec!["declaration"]),
        ("changes of the gallery", changes, vec!["section", "change"]),
        ("what runs show", shown, vec!["what a run says first"]),
        ("what no run shows", unseen, vec!["why no run shows it"]),
        ("rules that refuse mutants", rules, vec!["rule"]),
    ];
    for (name, table, sorts) in all {
        table.hold(name, &sorts);
    }
}
