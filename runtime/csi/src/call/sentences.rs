//! The one sentence of a call that did not succeed: what its facts say, or what the precondition means.

use lifecycle_runtime::lifecycle::Observation;
use lifecycle_runtime::machine::ir::{Call, Lifecycle, Pred, Target};

/// What the facts of a predicate say, the first that says anything.
pub(crate) fn of_facts(observation: &Observation, pred: &Pred) -> Option<String> {
    let vars = pred.vars();
    let mut sentences = vars
        .iter()
        .filter_map(|var| observation.sentences[*var].clone());
    sentences.next()
}

/// What a precondition means where no fact says more.
pub(crate) fn of_precondition(name: &str) -> &'static str {
    match name {
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
