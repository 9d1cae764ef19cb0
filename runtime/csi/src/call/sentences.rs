//! The one sentence about a call that did not succeed, from its facts or from the meaning of the
//! precondition.

use lifecycle_runtime::lifecycle::Observation;
use lifecycle_runtime::machine::ir::{Call, Lifecycle, Pred, Target};

/// Returns the first sentence that a fact of a predicate reports.
pub(crate) fn of_facts(observation: &Observation, pred: &Pred) -> Option<String> {
    let vars = pred.vars();
    let mut sentences = vars
        .iter()
        .filter_map(|var| observation.sentences[*var].clone());
    sentences.next()
}

/// Returns the meaning of a precondition, for use if no fact reports more.
pub(crate) fn of_precondition(name: &str) -> &'static str {
    match name {
        "unfit" => "the requested capability is not supported",
        "unknown" => "there is no such volume",
        "in_use" => "the volume is in use",
        "elsewhere" => "the volume is published at another target, and may be at one only",
        "unstaged" => "the volume is not staged",
        "differs" => "it is there already with other arguments",
        _ => "the request does not fit",
    }
}

/// Returns the sentence that explains why a call still waits, in a world in which it can only wait.
pub(crate) fn missing(ir: &Lifecycle, call: &Call, observation: &Observation) -> String {
    let promised = ir.promises.iter();
    let promised: Vec<_> = promised
        .filter(|p| observation.world.holds(&p.when))
        .collect();
    let vars = promised.iter().flat_map(|p| p.sets.iter());
    let vars = vars.flat_map(|sets| sets.iter().map(|(var, _)| *var));
    let mut sentences = vars.filter_map(|var| observation.sentences[var].clone());
    let of_promise = sentences.next();
    let of_target = || match &call.target {
        Target::Pred(pred) => of_facts(observation, pred),
        Target::State(state) => of_facts(observation, &ir.states[*state].when),
        Target::Nothing => None,
    };
    let by_name = || match promised.first() {
        Some(promise) => format!("still waiting: `{}` has not happened yet", promise.name),
        None => format!(
            "nothing can be done while {}",
            observation.world.describe(ir)
        ),
    };
    of_promise.or_else(of_target).unwrap_or_else(by_name)
}
