//! Names for predicates, and one question to several facts.

use crate::random::dice::Dice;
use crate::random::sketch::{Guard, Sketch};
use crate::random::spoil::guards;

/// Names parts of guards, and merges equal questions.
pub(super) fn shorten(sketch: &mut Sketch, dice: &mut Dice) {
    for number in 0..dice.random_below(4) {
        name(sketch, dice, number);
    }
    for guard in guards(sketch) {
        if dice.one_in(3) {
            ask_together(guard, dice);
        }
    }
}

/// Introduces a name for some adjacent atoms of a guard, which may include an earlier name.
fn name(sketch: &mut Sketch, dice: &mut Dice, number: usize) {
    let mut all = guards(sketch);
    if all.is_empty() {
        return;
    }
    let at = dice.random_below(all.len());
    let guard = all.swap_remove(at);
    let start = dice.random_below(guard.len());
    let end = start + 1 + dice.random_below(guard.len() - start);
    let meant: Guard = guard[start..end].to_vec();
    let name = format!("named{number}");
    let inverse = dice.one_in(3);
    let asked = if inverse {
        dice.pick_word(&[
            "!NAME",
            "NAME == false",
            "NAME != true",
            "all(NAME) == false",
        ])
    } else {
        dice.pick_word(&["NAME", "NAME == true", "NAME in { true }", "any(NAME)"])
    };
    let asked = asked.replace("NAME", &name);
    let everywhere = dice.one_in(2);
    for guard in guards(sketch) {
        if guard.len() >= meant.len() {
            let found = guard.windows(meant.len()).position(|part| *part == meant);
            if let Some(found) = found.filter(|_| everywhere || !contains_atom(guard, &asked)) {
                guard.splice(found..found + meant.len(), [asked.clone()]);
            }
        }
    }
    let meant: Vec<String> = meant
        .iter()
        .map(|atom| enclosed(atom, meant.len() > 1))
        .collect();
    let meant = meant.join(" && ");
    let meant = if inverse {
        format!("!({meant})")
    } else {
        meant
    };
    sketch.derived.push((name, meant));
}

fn contains_atom(guard: &Guard, atom: &str) -> bool {
    guard.iter().any(|other| other == atom)
}

fn enclosed(atom: &str, among_others: bool) -> String {
    if atom.contains("||") && among_others {
        format!("({atom})")
    } else {
        atom.to_owned()
    }
}

/// Returns a fact and its comparison; `None` if the atom queries several facts.
fn parts(atom: &str) -> Option<(&str, &str)> {
    let end = atom.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let (name, test) = atom.split_at(end.unwrap_or(atom.len()));
    let plain = !name.is_empty() && !["refused", "any", "all"].contains(&name);
    let single = !test.contains("||") && !test.contains("&&") && !test.contains('(');
    (plain && single).then_some((name, test))
}

/// Merges facts with equal comparisons into one question. A single fact may get this form, too.
fn ask_together(guard: &mut Guard, dice: &mut Dice) {
    let first = dice.random_below(guard.len());
    let Some((_, test)) = parts(&guard[first]) else {
        return;
    };
    let test = test.to_owned();
    let alike = |atom: &String| parts(atom).is_some_and(|(_, other)| other == test);
    let names: Vec<String> = guard
        .iter()
        .filter(|atom| alike(atom))
        .filter_map(|atom| Some(parts(atom)?.0.to_owned()))
        .collect();
    let names = names.join(", ");
    guard.retain(|atom| !alike(atom));
    // All of them, or none with the contrary value.
    let contrary = test
        .strip_prefix(" == ")
        .map(|value| format!(" != {value}"));
    let atom = match contrary.filter(|_| dice.one_in(2)) {
        Some(contrary) => format!("!any({names}){contrary}"),
        None => format!("all({names}){test}"),
    };
    guard.push(atom);
}

/// Seeds two names that stand for each other.
pub(super) fn circular(sketch: &mut Sketch, dice: &mut Dice) {
    let mut all = guards(sketch);
    let at = dice.random_below(all.len());
    let Some(atom) = all[at].first().cloned() else {
        return;
    };
    if dice.one_in(2) {
        all[at][0] = "turned".to_owned();
    }
    let both = [
        ("turned".to_owned(), "around".to_owned()),
        ("around".to_owned(), format!("turned || {atom}")),
    ];
    sketch.derived.extend(both);
}
