//! Every declaration of this workspace, changed at random in one place: nothing panics or hangs,
//! and findings point at the right place. `MUTATIONS=100000 FIRST=20000` makes other changes than
//! the default ones; a seed always makes the same change.

mod change;
mod declarations;
mod places;
mod run;
mod words;

use std::collections::BTreeSet;

use lifecycle_macros_core::check;
use lifecycle_macros_core::errors::Severity;

use change::{Dice, MutationKind, change};
use declarations::{Declaration, all};
use places::Places;
use run::{Drawn, Ran, draw, run};
use words::{GRAMMAR, is_common, stream};

/// Out of this many changes of the meaning, at least one is accepted and one rejected. Otherwise
/// the mutation changes too much, or too little.
const SHARE: usize = 200;

fn env_number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{name}={text} is no number; write {name}=20")))
}

fn is_long() -> bool {
    std::env::var("LONG").is_ok_and(|long| !long.is_empty() && long != "0")
}

#[test]
fn each_changed_declaration_is_judged_where_it_was_changed() {
    let usual = if is_long() { 2_000_000 } else { 20_000 };
    let (first, count) = (
        env_number("FIRST").unwrap_or(0),
        env_number("MUTATIONS").unwrap_or(usual),
    );
    let ran = run(first..first + count);
    eprintln!("{ran}");
    assert!(ran.wrong.is_empty(), "{}", ran.wrong.join("\n"));
    if count >= 10_000 {
        is_spread_out(&ran);
    }
}

fn is_spread_out(ran: &Ran) {
    for sort in MutationKind::ALL {
        let [refused, warned, accepted] = ran.counts_for(sort);
        let all = refused + warned + accepted;
        assert!(all * 50 >= ran.changed, "{sort:?} was done {all} times");
        let unlike = refused.min(warned + accepted);
        let is_enough =
            sort.is_of_tokens() || sort == MutationKind::ItemElsewhere || unlike * SHARE >= all;
        assert!(is_enough, "{sort:?}: {refused} refused of {all}");
    }
}

/// Verifies that findings are judged by their place. At a random token, which may be right by
/// chance, about half of all findings are wrong.
#[test]
fn a_finding_at_a_random_token_is_noticed() {
    let declarations = all();
    let (mut moved, mut noticed) = (0_usize, 0_usize);
    for number in 0..4_000 {
        let mut dice = Dice::new(number);
        let drawn = draw(&declarations, &mut dice);
        let Some((changed, found)) = drawn.changed(&mut dice) else {
            continue;
        };
        let places = Places::new(drawn.declaration, drawn.unit, &changed);
        let words = &drawn.declaration.units[drawn.unit].words;
        for mut one in found {
            one.span = words[dice.random_below(words.len())].span();
            moved += 1;
            noticed += usize::from(places.wrong(&one).is_some());
        }
    }
    eprintln!("{noticed} of {moved} findings at a random token are noticed");
    assert!(moved > 3_000, "only {moved} findings were moved");
    assert!(
        noticed * 5 > moved * 2,
        "only {noticed} of {moved} are noticed"
    );
}

/// Tests that every word of the language occurs in the mutated declarations.
#[test]
fn every_word_of_the_language_is_changed() {
    let declarations = all();
    let units = declarations.iter().flat_map(|one| &one.units);
    let words: BTreeSet<&str> = units
        .flat_map(|unit| &unit.words)
        .map(|word| word.text.as_str())
        .collect();
    let missing: Vec<&str> = GRAMMAR
        .split_whitespace()
        .filter(|word| !words.contains(word))
        .collect();
    assert_eq!(missing, [""; 0], "no declaration says these");
    let worlds: Vec<usize> = declarations.iter().map(Declaration::worlds).collect();
    assert!(worlds.len() > 140, "only {} declarations", worlds.len());
}

/// Returns true for the name of an effect without a label, which is its verb and its target.
fn is_derived(name: &str, words: &[words::SpannedToken]) -> bool {
    words.iter().enumerate().any(|(at, verb)| {
        let rest = words[at + 1..].iter().take(2);
        let mut rest = rest.filter(|word| word.text != "each");
        rest.next()
            .is_some_and(|word| format!("{}_{}", verb.text, word.text) == name)
    })
}

/// Tests that names carry no meaning: a lifecycle with a name replaced everywhere is the same
/// lifecycle.
#[test]
fn what_is_called_otherwise_everywhere_means_the_same() {
    let declarations = all();
    let mut renamed = 0;
    for number in 0..3_000 {
        let mut dice = Dice::new(number);
        let Drawn { declaration, .. } = draw(&declarations, &mut dice);
        let [unit] = &declaration.units[..] else {
            continue;
        };
        let changed = change(unit, MutationKind::RenamedEverywhere, unit, &mut dice)
            .expect("every lifecycle has names");
        let name = unit.words[changed.touched[0]].text.as_str();
        // A column contains a field in the spelling of Kubernetes.
        let spelled = |text: &str| text.replace('_', "").to_lowercase();
        let says = |word: &words::SpannedToken| {
            let is_text = word.text.starts_with('"');
            let is_said = is_text && spelled(&word.text).contains(&spelled(name));
            is_said || word.text.contains(name) && word.text != name
        };
        let is_code = name.starts_with("LC");
        let is_known = is_code
            || is_derived(name, &unit.words)
            || is_common(name)
            || declaration.is_locked(name)
            || unit.words.iter().any(says);
        if is_known || unit.words.iter().any(|word| word.text == "volume") {
            continue;
        }
        renamed += 1;
        let found = check(stream(&changed.words)).diagnostics;
        let errors: Vec<_> = found
            .iter()
            .filter(|one| one.severity == Severity::Error)
            .collect();
        assert!(
            errors.is_empty(),
            "{} {name}: {errors:#?}",
            declaration.name
        );
    }
    assert!(renamed > 300, "only {renamed} were renamed");
}
