//! Properties that the author of a random lifecycle claims of it. Uses dice of its own, so that the
//! lifecycle stays unchanged.

use super::dice::Dice;
use super::sketch::Sketch;

/// Some properties, true or not.
pub(super) fn some(sketch: &Sketch, dice: &mut Dice) -> Vec<String> {
    let atoms = atoms(sketch);
    let count = 1 + dice.random_below(4);
    let drawn = (0..count).filter_map(|_| property(sketch, &atoms, dice));
    drawn.collect()
}

/// Returns the atoms that predicates of the lifecycle already evaluate.
fn atoms(sketch: &Sketch) -> Vec<String> {
    let states = sketch.states.iter().map(|state| &state.when);
    let effects = sketch.effects.iter().map(|effect| &effect.when);
    let promises = sketch.promises.iter().map(|promise| &promise.when);
    let all = states.chain(effects).chain(promises).flatten();
    all.cloned().collect()
}

fn property(sketch: &Sketch, atoms: &[String], dice: &mut Dice) -> Option<String> {
    let is_volume = sketch.calls.is_some();
    let effect = |dice: &mut Dice| {
        let all = &sketch.effects;
        (!all.is_empty()).then(|| dice.pick(all).known_as())
    };
    if atoms.is_empty() {
        return None;
    }
    Some(match dice.random_below(11) {
        0 if sketch.effects.len() > 1 => behind(sketch, dice)?,
        0 | 1 => {
            let (effect, pred) = (effect(dice)?, claim(atoms, dice));
            format!("never {effect} while {pred};")
        }
        2..=6 if sketch.effects.len() > 1 || dice.one_in(8) => {
            format!("{} before {};", effect(dice)?, effect(dice)?)
        }
        7 | 8 if !is_volume => {
            let count = 1 + dice.random_below(3);
            let to = states(sketch, count, dice);
            let count = 1 + dice.random_below(2);
            let mut from = states(sketch, count, dice);
            if !dice.one_in(8) {
                from.retain(|state| !to.contains(state));
            }
            if from.is_empty() {
                return None;
            }
            format!("reaches {} from {};", to.join(" | "), from.join(", "))
        }
        _ => always(sketch, atoms, dice),
    })
}

/// One of two effects must not be enabled where the other runs: it may be, and wait behind that.
fn behind(sketch: &Sketch, dice: &mut Dice) -> Option<String> {
    let at = 1 + dice.random_below(sketch.effects.len() - 1);
    let first = &sketch.effects[dice.random_below(at)];
    let mut runs: Vec<String> = first.when.iter().map(nested).collect();
    if let Some(target) = first.head.strip_prefix("apply ") {
        runs.push(format!("{target} == Stale"));
    }
    runs.push(format!("!refused({})", first.known_as()));
    let is_certain = first.from.is_empty() && !first.head.contains(" each ");
    let effect = sketch.effects[at].known_as();
    is_certain.then(|| format!("never {effect} while {};", runs.join(" && ")))
}

fn always(sketch: &Sketch, atoms: &[String], dice: &mut Dice) -> String {
    let mut line = "always ".to_owned();
    let mut scope = Vec::new();
    if dice.one_in(2) {
        // The predicate of the state holds in it, unless the property queries another state as
        // well.
        let state = dice.pick(&sketch.states).clone();
        line += &state
            .when
            .iter()
            .map(nested)
            .collect::<Vec<_>>()
            .join(" && ");
        scope.push(state.name);
    } else {
        line += &claim(atoms, dice);
    }
    if dice.one_in(3) {
        scope.extend(states(sketch, 1, dice));
    }
    if sketch.calls.is_none() && dice.one_in(6) {
        scope.push(dice.pick_word(&["Deleting", "Refused"]));
    }
    scope.dedup();
    if !scope.is_empty() {
        line += &format!(" in {}", scope.join(", "));
    }
    if sketch.calls.is_none() && dice.one_in(3) {
        line += " at rest";
    }
    line + ";"
}

/// One to three atoms, each as it is or denied.
fn claim(atoms: &[String], dice: &mut Dice) -> String {
    let count = 1 + dice.random_below(3);
    let one = |dice: &mut Dice| {
        let atom = nested(dice.pick(atoms));
        if dice.one_in(3) {
            format!("!({atom})")
        } else {
            atom
        }
    };
    let all: Vec<String> = (0..count).map(|_| one(dice)).collect();
    all.join(if dice.one_in(3) { " && " } else { " || " })
}

fn nested(atom: &String) -> String {
    if atom.contains("||") {
        format!("({atom})")
    } else {
        atom.clone()
    }
}

/// Different states.
fn states(sketch: &Sketch, count: usize, dice: &mut Dice) -> Vec<String> {
    let mut all: Vec<String> = sketch.states.iter().map(|one| one.name.clone()).collect();
    all.sort();
    all.dedup();
    let count = count.min(all.len());
    let taken = (0..count).map(|_| all.swap_remove(dice.random_below(all.len())));
    taken.collect()
}
