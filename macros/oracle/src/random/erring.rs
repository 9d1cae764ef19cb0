//! Sound lifecycles with one seeded bug of a kind that others hide, or that is too rare in random
//! lifecycles for a meaningful comparison. Each seeding is tried on sound lifecycles until the
//! oracle finds its code.

use crate::answer::{answer, fits};

use super::dice::Dice;
use super::sketch::{Input, Sketch, to_strings};
use super::{COMFORTABLE, mints, ownership, sound, strays, teardown};

type Mistake = fn(&mut Sketch, &mut Dice) -> Option<()>;

/// Codes to be found, each with the seeded bug that causes it.
const MISTAKES: [(&str, Mistake); 14] = [
    ("LC134", kept_from_an_undo),
    ("LC135", policy_of_adopted),
    ("LC136", kept_from_a_step),
    ("LC141", teardown::out_of_reach),
    ("LC142", teardown::needed_in_life),
    ("LC143", teardown::turns),
    ("LC144", teardown::unseen),
    ("LC144", teardown::unseen),
    ("LC145", teardown::always_given_up),
    ("LC147", untimed),
    ("LC160", strays::key),
    ("LC161", strays::other_key),
    ("LC169", in_vain),
    ("LC175", strays::waits_for_its_owner),
];

/// Number of attempts on one lifecycle before the next.
const TRIES: usize = 3;

pub(super) fn erring(dice: &mut Dice) -> Sketch {
    let (code, mistake) = *dice.pick(&MISTAKES);
    loop {
        let sound = sound(dice);
        for _ in 0..TRIES {
            let mut wrong = sound.clone();
            let shows = |text: &str| {
                let found = answer(text, None).found.all;
                found.iter().any(|finding| finding.code == code)
            };
            if mistake(&mut wrong, dice).is_some() {
                let text = wrong.to_string();
                if fits(&text, 2 * COMFORTABLE) && shows(&text) {
                    return wrong;
                }
            }
        }
    }
}

fn owned(sketch: &Sketch, dice: &mut Dice) -> Option<usize> {
    let fits = |input: &Input| {
        let is_one = input.head.starts_with("owned ") && !input.head.contains('[');
        is_one && input.lookup != "owner"
    };
    let inputs = 0..sketch.inputs.len();
    let all: Vec<usize> = inputs.filter(|at| fits(&sketch.inputs[*at])).collect();
    (!all.is_empty()).then(|| *dice.pick(&all))
}

/// Lets an undo delete a retained object.
fn kept_from_an_undo(sketch: &mut Sketch, dice: &mut Dice) -> Option<()> {
    let at = owned(sketch, dice)?;
    ownership::retain(sketch, at, dice);
    let name = sketch.inputs[at].name.clone();
    let mut undos = sketch.effects.iter().filter_map(|one| one.undo.clone());
    let undo = undos.next()?;
    let mut effects = sketch.effects.iter_mut();
    let effect = effects.find(|one| one.known_as() == undo)?;
    (effect.name, effect.head) = (Some(undo), format!("delete {name}"));
    effect.key = None;
    Some(())
}

fn policy_of_adopted(sketch: &mut Sketch, dice: &mut Dice) -> Option<()> {
    let at = owned(sketch, dice)?;
    ownership::retain(sketch, at, dice);
    ownership::adopt(sketch, at, dice);
    Some(())
}

/// Lets a stage of the teardown delete a retained object, sometimes only where it is not retained.
fn kept_from_a_step(sketch: &mut Sketch, dice: &mut Dice) -> Option<()> {
    let at = owned(sketch, dice)?;
    if dice.one_in(4) {
        ownership::adopt(sketch, at, dice);
    } else {
        ownership::retain(sketch, at, dice);
    }
    let input = sketch.inputs[at].clone();
    let policy = input.lookup.split(" retain when ").nth(1);
    let when = match policy.filter(|_| dice.one_in(2)) {
        Some(policy) => format!(" when {policy}"),
        None => String::new(),
    };
    teardown::deletes(sketch, &input, &when)
}

/// Seeds a minted value that does not know its creation time, or an expiry that does not know the
/// current time.
fn untimed(sketch: &mut Sketch, dice: &mut Dice) -> Option<()> {
    let keepers = mints::keepers(sketch);
    let at = *keepers.get(dice.random_below(keepers.len()))?;
    let is_told = dice.one_in(2);
    mints::mint(sketch, at, if is_told { 2 } else { 1 }, dice);
    let clock = mints::clock(sketch);
    let minted = sketch.lets.last_mut()?;
    match is_told {
        true => minted.from.retain(|name| *name != clock),
        false => minted.from.push(clock),
    }
    Some(())
}

/// Lets an effect run while a person is awaited.
fn in_vain(sketch: &mut Sketch, dice: &mut Dice) -> Option<()> {
    let is_pending = |at: &usize| sketch.states[*at].phase.as_deref() == Some("Pending");
    let states = 0..sketch.states.len();
    let all: Vec<usize> = states.filter(is_pending).collect();
    let read = |input: &&Input| {
        let mut words = input.head.split(' ');
        words.next() == input.head.split(' ').next_back() && !input.head.contains('[')
    };
    let inputs: Vec<&Input> = sketch.inputs.iter().filter(read).collect();
    let wakes = match inputs.get(dice.random_below(inputs.len() + 1)) {
        Some(input) => to_strings(&[&input.name, "self"]),
        None => to_strings(&["self"]),
    };
    let at = *all.get(dice.random_below(all.len()))?;
    sketch.states[at].wakes = wakes;
    sketch.states[at].overdue = None;
    Some(())
}
