//! Objects that exist only sometimes in some of the drawn lifecycles. Drawn with dice of its own, so
//! that all others are the same with and without.

use super::dice::Dice;
use super::sketch::{Effect, Sketch};
use super::{COMFORTABLE, declare_edges};
use crate::answer::{answer, fits};

/// Lets some of their objects exist only where the object wants them.
pub(super) fn overlay(sketch: &mut Sketch, is_sound: bool, number: u64) {
    let mut dice = Dice::new(number ^ 0x4f50_5449);
    if !dice.one_in(3) || sketch.calls.is_some() {
        return;
    }
    let fits_it = |at: &usize| may_lack(sketch, *at);
    let inputs: Vec<usize> = (0..sketch.inputs.len()).filter(fits_it).collect();
    if inputs.is_empty() {
        return;
    }
    let at = *dice.pick(&inputs);
    let before = sketch.clone();
    sketch.inputs[at].lookup += " if spec.extra";
    if !fits(&sketch.to_string(), COMFORTABLE) {
        *sketch = before;
    } else if is_sound {
        declare_edges(sketch);
        let found = |sketch: &Sketch| answer(&sketch.to_string(), None).found.all;
        if found(sketch) != found(&before) {
            *sketch = before;
        }
    }
}

/// Returns true if an input is one applied object, and nothing needs it to exist or to stay.
fn may_lack(sketch: &Sketch, at: usize) -> bool {
    let input = &sketch.inputs[at];
    let name = &input.name;
    let is_one = input.head.starts_with("owned ") && !input.head.contains(['[', '{']);
    let is_plain = !input.lookup.contains(" retain") && !input.lookup.contains(" if ");
    let on_it = |effect: &&Effect| effect.target() == *name;
    let mut effects = sketch.effects.iter().filter(on_it).peekable();
    let is_applied = effects.peek().is_some() && effects.all(|e| e.head.starts_with("apply "));
    let owns = |head: &String| {
        let mut words = head.split(' ').skip_while(|word| *word != "of");
        words.nth(1) == Some(name)
    };
    let keeps = sketch
        .lets
        .iter()
        .any(|value| value.keeper.as_ref() == Some(name));
    let mut keys = sketch.effects.iter().filter_map(|e| e.key.as_ref());
    let is_key = keys.any(|key| key.split('.').next() == Some(name));
    let is_owner = sketch.inputs.iter().any(|other| owns(&other.head));
    is_one && is_plain && is_applied && !keeps && !is_key && !is_owner
}
