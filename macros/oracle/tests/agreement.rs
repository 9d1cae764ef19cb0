//! The checker against an oracle that derives the meaning apart from it, on shipped and on random
//! lifecycles.
//! `LIFECYCLES=100000 FIRST=10000` compares others than the default ones, `LONG=1` twice as many.

mod agreement {
    pub(crate) mod compare;
    pub(crate) mod corpus;
    mod fragments;
}

use std::path::Path;

use agreement::compare::{checked, differ, disagreement, smallest};
use agreement::corpus::{Corpus, EACH_CODE, EACH_CODE_OF_VOLUMES, SELDOM, fan_out, number_from};
use lifecycle_macros_core::{check_with, find_in};
use lifecycle_oracle::answer::{Reading, answer};
use lifecycle_oracle::broken::{RULES, Rule};
use lifecycle_oracle::random::{draw, draw_sound_volume, draw_volume};

/// So many random lifecycles are compared in every check. Each code must be among them.
const MANY: u64 = 5_000;

/// The lifecycles of the documentation, with how many worlds each has.
const SHIPPED: [(&str, usize); 25] = [
    ("account", 34),
    ("app", 261),
    ("autoscaler", 77),
    ("bucket", 222),
    ("canary", 1_148),
    ("certificate", 250),
    ("database", 246),
    ("dns", 228),
    ("front", 9),
    ("git", 1_536),
    ("listener", 81),
    ("leaf", 51),
    ("lodge", 28),
    ("login", 83),
    ("machine", 660),
    ("preview", 26),
    ("quota", 3),
    ("rollout", 216),
    ("schedule", 29),
    ("skupper", 10_805),
    ("skupper-listener", 4_968),
    ("tenant", 736),
    ("provision", 28),
    ("scratch", 54),
    ("volume", 4_587),
];

fn shipped(name: &str) -> String {
    let checker = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/tests/lifecycles");
    std::fs::read_to_string(checker.join(format!("{name}.txt"))).expect("the lifecycle can be read")
}

#[test]
fn neither_finds_anything_in_shipped_lifecycles() {
    for (name, worlds) in SHIPPED {
        let text = shipped(name);
        let answer = answer(&text, None);
        assert!(!answer.refused, "{name}");
        assert!(
            answer.found.all.is_empty(),
            "{name}: {:?}",
            answer.found.all
        );
        assert_eq!(answer.worlds, worlds, "{name}");
        let differ = disagreement(&text, None);
        assert!(differ.is_none(), "{name}: {differ:?}");
    }
}

#[test]
fn both_find_the_same_in_random_lifecycles() {
    let (first, count) = (number_from("FIRST", 0), number_from("LIFECYCLES", MANY));
    let corpus = Corpus::from_numbers(first..first + count, draw);
    they_agree(&corpus, draw);
    if corpus.all as u64 >= MANY {
        is_spread_out(&corpus);
    }
}

#[test]
fn both_find_the_same_in_random_volumes() {
    let (first, count) = (number_from("FIRST", 0), number_from("VOLUMES", 3_000));
    let corpus = Corpus::from_numbers(first..first + count, draw_volume);
    they_agree(&corpus, draw_volume);
    assert_eq!(corpus.refused, 0, "{corpus}");
    assert!(
        corpus.clean * 50 >= corpus.all,
        "too few are clean: {corpus}"
    );
    for code in EACH_CODE_OF_VOLUMES {
        let times = corpus.codes.get(*code).copied().unwrap_or_default();
        assert!(
            times * 100 >= corpus.all,
            "{code} was found {times} times: {corpus}"
        );
    }
}

#[test]
fn both_find_the_same_in_volumes_that_are_sound() {
    let (first, count) = (number_from("FIRST", 0), number_from("VOLUMES", 500));
    let corpus = Corpus::from_numbers(first..first + count, draw_sound_volume);
    they_agree(&corpus, draw_sound_volume);
    assert_eq!(corpus.refused, 0, "{corpus}");
    assert!(
        corpus.clean * 4 >= corpus.all,
        "too few are clean: {corpus}"
    );
}

/// Checks that items left by an older version stay outside the graph: no world, no run and no
/// finding knows of them.
#[test]
fn what_is_retired_changes_no_finding() {
    let section = "retired { condition Zzz; state Zzz; record zzz; zzz: owned Zzz by name meta.name deleted; }";
    let found = |text: &str| {
        let mut found = find_in(text).expect("it is Rust");
        let body = found.lifecycles.pop().expect("it has a lifecycle");
        let found = check_with(body, &found.fragments).diagnostics;
        let said = found.iter().map(ToString::to_string);
        said.collect::<Vec<_>>()
    };
    let mut clean = 0;
    for number in 0..400 {
        let text = draw(number);
        let Some(end) = text.rfind('}').filter(|_| text.contains("resource ")) else {
            continue;
        };
        let more = format!("{} {section} {}", &text[..end], &text[end..]);
        let before = found(&text);
        assert_eq!(before, found(&more), "{number}: {text}");
        clean += usize::from(before.is_empty());
    }
    assert!(clean > 50, "only {clean} of them are without findings");
}

fn they_agree(corpus: &Corpus, draw: fn(u64) -> String) {
    eprintln!("{corpus}");
    let different = &corpus.different;
    let shown: Vec<String> = different
        .iter()
        .take(3)
        .map(|number| explained(*number, draw))
        .collect();
    assert!(
        shown.is_empty(),
        "they differ on {different:?}\n{}",
        shown.join("\n")
    );
    assert_eq!(
        corpus.unreadable, 0,
        "the generator wrote what no one can read"
    );
}

/// A few lifecycles may by chance lack a code; five thousand must not: each is in at least one of two hundred, or of a thousand.
fn is_spread_out(corpus: &Corpus) {
    assert!(
        corpus.clean * 10 >= corpus.all * 3,
        "too few are clean: {corpus}"
    );
    assert!(
        corpus.large * 10 >= corpus.all * 2,
        "too few are large: {corpus}"
    );
    assert!(
        corpus.refused * 10 <= corpus.all,
        "too many say nothing about the two: {corpus}"
    );
    let often = EACH_CODE.iter().map(|code| (code, 200));
    for (code, one_in) in often.chain(SELDOM.iter().map(|code| (code, 1_000))) {
        let times = corpus.codes.get(*code).copied().unwrap_or_default();
        assert!(
            times * one_in >= corpus.all,
            "{code} was found {times} times: {corpus}"
        );
    }
}

/// A lifecycle on which the two differ, made small, with both answers.
fn explained(number: u64, draw: fn(u64) -> String) -> String {
    let text = draw(number);
    let Some(differ) = disagreement(&text, None) else {
        return format!("lifecycle {number} differs no more");
    };
    let small = smallest(&text, &differ, None);
    let differ = disagreement(&small, None).unwrap_or(differ);
    format!("lifecycle {number}, {}\n{small}\n{differ}", differ.key())
}

/// A wrong oracle beside the right checker differs just as a wrong checker beside the right oracle would.
#[test]
fn forgetting_any_rule_is_noticed() {
    let mut unnoticed: Vec<Rule> = RULES.to_vec();
    let (mut first, batch) = (0, 100);
    while !unnoticed.is_empty() && first < 10_000 {
        let noticed = fan_out((first..first + batch).collect(), |number| {
            noticed_in(number, &unnoticed)
        });
        for (number, rule) in noticed.into_iter().flatten() {
            if unnoticed.contains(&rule) {
                eprintln!("lifecycle {number} shows that {rule:?} is forgotten");
                unnoticed.retain(|other| *other != rule);
            }
        }
        first += batch;
    }
    assert_eq!(unnoticed, [], "nobody notices that these are forgotten");
}

fn noticed_in(number: u64, rules: &[Rule]) -> Vec<(u64, Rule)> {
    let text = draw(number);
    let (checker, reading) = (checked(&text), Reading::new(&text));
    let noticed = rules
        .iter()
        .filter(|rule| differ(&checker, &reading.answer(Some(**rule))).is_some());
    noticed.map(|rule| (number, *rule)).collect()
}

#[test]
fn a_number_always_gives_the_same_lifecycle() {
    for number in 0..20 {
        assert_eq!(draw(number), draw(number));
    }
}

#[test]
fn a_disagreement_is_made_small() {
    let forgotten = Some(Rule::PromiseAlternatives);
    let rollout = shipped("rollout");
    let differ = disagreement(&rollout, forgotten).expect("its promises have alternatives");
    let small = smallest(&rollout, &differ, forgotten);
    let again = disagreement(&small, forgotten).expect("it still differs");
    assert_eq!(again.key(), differ.key());
    assert!(
        small.lines().count() < rollout.lines().count() / 2,
        "{small}"
    );
}

/// Checks that some random lifecycles wait for others. Another test compares these waits together
/// with the rest.
#[test]
fn random_lifecycles_wait_for_others() {
    let waits = |number: &u64| !answer(&draw(*number), None).outline.waits.is_empty();
    let some = (0..2_000).filter(waits).count();
    assert!(some >= 5, "{some} wait");
}
