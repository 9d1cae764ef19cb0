//! Sound lifecycles, composed of pieces. Each piece queries something, brings it about if it is
//! ours, and reports the result. Later pieces may depend on earlier ones, never the other way.

mod draft;
mod objects;
mod outside;
mod suspended;
mod time;

use super::dice::Dice;
use super::sketch::Sketch;
use draft::Draft;
use objects::{
    addressed, chained, class, counted, either, guarded_record, listed, members, minted, owned,
    part, rollout, secret, shared,
};
use outside::{bucket, entry, polled, recorded};
use time::{renewed, window};

type Piece = fn(&mut Draft<'_>);

const PIECES: [Piece; 21] = [
    class,
    secret,
    listed,
    owned,
    owned,
    rollout,
    addressed,
    shared,
    part,
    members,
    polled,
    entry,
    bucket,
    chained,
    minted,
    guarded_record,
    either,
    bucket,
    counted,
    window,
    renewed,
];

/// Composes two to four pieces, and a goal that takes the remaining worlds.
pub(super) fn sound(dice: &mut Dice) -> Sketch {
    let count = 1 + dice.random_below(4);
    let mut draft = Draft {
        sketch: Sketch::default(),
        dice,
        right: Vec::new(),
        there: Vec::new(),
        piece: 0,
    };
    if draft.dice.one_in(5) {
        elsewhere(&mut draft);
    }
    if draft.dice.one_in(4) {
        suspended::add_suspension(&mut draft);
    }
    for piece in 0..count {
        draft.piece = piece;
        let at = draft.dice.random_below(PIECES.len());
        if piece == 0 && draft.dice.one_in(6) {
            recorded(&mut draft)
        } else {
            PIECES[at](&mut draft)
        }
    }
    let dice = &mut Dice::new(draft.dice.random_below(1 << 16) as u64);
    let mut sketch = draft.finish();
    suspended::even_deleting(&mut sketch, dice);
    sketch
}

/// Another controller manages some objects.
fn elsewhere(draft: &mut Draft<'_>) {
    if draft.dice.one_in(2) {
        let guide = draft.input("guide", "Config", "name spec.guide?");
        draft.fact("keeper", "{ Ours, Other }", &[&guide]);
        draft.given(&[&guide], None);
    } else {
        draft.fact("keeper", "{ Ours, Other }", &["self"]);
    }
    let keeper = draft.name("keeper");
    draft.state("Elsewhere", &format!("{keeper} == Other"), "Ignored", &[]);
}
