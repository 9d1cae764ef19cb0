//! The one sentence of a call that did not succeed: what its facts say, or what the word means.

use crate::lifecycle::Board;
use crate::machine::ir::{Call, Lifecycle, Pred, Target};

/// What the facts of a predicate say, the first that says anything.
pub(crate) fn said(board: &Board, pred: &Pred) -> Option<String> {
    let vars = pred.vars();
    let mut said = vars.iter().filter_map(|var| board.sentences[*var].clone());
    said.next()
}

/// What a word means where no fact says more.
pub(crate) fn of_word(word: &str) -> &'static str {
    match word {
        "unfit" => "the capability that is asked for is not supported",
        "unknown" => "there is no such volume",
        "in_use" => "the volume is in use",
        "elsewhere" => "the volume is published at another target, and may be at one only",
        "unstaged" => "the volume is not staged",
        "differs" => "it is there already with other arguments",
        _ => "the request does not fit",
    }
}

/// What is missing in a world in which a call can only wait.
pub(crate) fn missing(ir: &Lifecycle, call: &Call, board: &Board) -> String {
    let promised = ir.promises.iter();
    let promised: Vec<_> = promised.filter(|p| board.world.holds(&p.when)).collect();
    let vars = promised.iter().flat_map(|p| p.sets.iter());
    let vars = vars.flat_map(|sets| sets.iter().map(|(var, _)| *var));
    let mut sentences = vars.filter_map(|var| board.sentences[var].clone());
    let of_promise = sentences.next();
    let of_target = || match &call.target {
        Target::Pred(pred) => said(board, pred),
        Target::State(state) => said(board, &ir.states[*state].when),
        Target::Nothing => None,
    };
    let by_name = || match promised.first() {
        Some(promise) => format!("still waiting: `{}` has not happened yet", promise.name),
        None => format!("nothing can be done while {}", board.world.describe(ir)),
    };
    of_promise.or_else(of_target).unwrap_or_else(by_name)
}
