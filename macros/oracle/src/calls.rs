//! The calls of a volume: the possible answers of each, the facts that it observes, and the end of
//! its trajectory. The table is written independently of the one of the checker, from the lists of
//! the specification.

mod visibility;

use std::collections::BTreeSet;

use crate::drive::{MoveGraph, idle_promises};
use crate::findings::Findings;
use crate::moves::Move;
use crate::properties::{self, Runs};
use crate::syntax::{Call, Life};
use crate::worlds::{NodePlace, Test, World, Worlds};
pub(crate) use visibility::Visibility;

/// Interface description of a call: the contents of its request, its preconditions and its further
/// codes. Flags tell if the request carries the wanted properties, and if the call goes to the
/// node.
pub(crate) struct Rpc {
    name: &'static str,
    carries: &'static [&'static str],
    /// Further fields of the request that a fact may read.
    tells: &'static [&'static str],
    wants: bool,
    node: bool,
    preconditions: &'static [(&'static str, &'static str)],
    codes: &'static [&'static str],
}

const RPCS: [Rpc; 7] = [
    Rpc {
        name: "CreateVolume",
        carries: &["name"],
        tells: &[
            "parameters",
            "capabilities",
            "capacity_range",
            "requisite",
            "preferred",
        ],
        wants: true,
        node: false,
        preconditions: &[("unfit", "INVALID_ARGUMENT"), ("differs", "ALREADY_EXISTS")],
        codes: &["NOT_FOUND", "RESOURCE_EXHAUSTED", "OUT_OF_RANGE"],
    },
    Rpc {
        name: "DeleteVolume",
        carries: &["volume_id"],
        tells: &[],
        wants: false,
        node: false,
        preconditions: &[("in_use", "FAILED_PRECONDITION")],
        codes: &[],
    },
    Rpc {
        name: "ValidateVolumeCapabilities",
        carries: &["volume_id"],
        tells: &["parameters", "volume_context", "capabilities"],
        wants: true,
        node: false,
        preconditions: &[("unknown", "NOT_FOUND")],
        codes: &[],
    },
    Rpc {
        name: "NodeStageVolume",
        carries: &["volume_id", "staging_target_path"],
        tells: &["volume_context", "capabilities"],
        wants: true,
        node: true,
        preconditions: &[
            ("unfit", "FAILED_PRECONDITION"),
            ("unknown", "NOT_FOUND"),
            ("differs", "ALREADY_EXISTS"),
        ],
        codes: &[],
    },
    Rpc {
        name: "NodeUnstageVolume",
        carries: &["volume_id", "staging_target_path"],
        tells: &[],
        wants: false,
        node: true,
        preconditions: &[],
        codes: &["FAILED_PRECONDITION"],
    },
    Rpc {
        name: "NodePublishVolume",
        carries: &["volume_id", "staging_target_path", "target_path"],
        tells: &["volume_context", "capabilities", "readonly"],
        wants: true,
        node: true,
        preconditions: &[
            ("unfit", "FAILED_PRECONDITION"),
            ("unknown", "NOT_FOUND"),
            ("elsewhere", "FAILED_PRECONDITION"),
            ("unstaged", "FAILED_PRECONDITION"),
            ("differs", "ALREADY_EXISTS"),
        ],
        codes: &[],
    },
    Rpc {
        name: "NodeUnpublishVolume",
        carries: &["volume_id", "target_path"],
        tells: &[],
        wants: false,
        node: true,
        preconditions: &[],
        codes: &[],
    },
];

const ALWAYS: [&str; 7] = [
    "INVALID_ARGUMENT",
    "UNAVAILABLE",
    "ABORTED",
    "INTERNAL",
    "DEADLINE_EXCEEDED",
    "PERMISSION_DENIED",
    "UNAUTHENTICATED",
];

const PAIRS: [(&str, &str); 3] = [
    ("CreateVolume", "DeleteVolume"),
    ("NodeStageVolume", "NodeUnstageVolume"),
    ("NodePublishVolume", "NodeUnpublishVolume"),
];

impl Rpc {
    /// Returns true if the request has everything that a name in a `from` means of it. A name that
    /// does not refer to the request always qualifies.
    pub(crate) fn has(&self, source: &str) -> bool {
        match source.split_once('.') {
            Some(("request", field)) => {
                self.carries.contains(&field) || self.tells.contains(&field)
            }
            Some(_) => true,
            None => source != "request" || self.wants,
        }
    }
}

/// A fact that no call can answer.
fn untold(life: &Life, found: &mut Findings) {
    for fact in life.facts.iter().filter(|_| !life.calls.is_empty()) {
        let mut fields = fact.from.iter().filter(|one| one.contains('.')).peekable();
        let fields: Vec<&String> = match fields.peek() {
            Some(_) => fields.collect(),
            None => continue,
        };
        let tells = |call: &Call| fields.iter().all(|one| rpc(&call.name).has(one));
        if !life.calls.iter().any(tells) {
            found.report("LC118", &fact.name);
        }
    }
}

pub(crate) fn rpc(name: &str) -> &'static Rpc {
    let found = RPCS.iter().find(|rpc| rpc.name == name);
    found.expect("no lifecycle that is compared misspells a call")
}

pub(crate) fn call<'a>(life: &'a Life, name: &str) -> Option<&'a Call> {
    life.calls.iter().find(|call| call.name == name)
}

/// Checks the calls as far as that needs no world.
pub(crate) fn declared(life: &Life, found: &mut Findings) {
    untold(life, found);
    for call in &life.calls {
        let rpc = rpc(&call.name);
        let lists = |code: &str| {
            let of_precondition = rpc.preconditions.iter().any(|(_, answer)| *answer == code);
            ALWAYS.contains(&code) || rpc.codes.contains(&code) || of_precondition
        };
        let codes = call.refusals.iter().map(|(_, code)| code);
        if !codes.chain(&call.within).all(|code| lists(code)) {
            found.report("LC081", &call.name);
        }
    }
    let mut missing: BTreeSet<&str> = BTreeSet::new();
    for call in &life.calls {
        for (name, _) in rpc(&call.name).preconditions {
            let optional = *name == "unstaged" && self::call(life, "NodeStageVolume").is_none();
            let decided = life.preconditions.iter().any(|(other, _)| other == name);
            if !optional && !decided && missing.insert(name) {
                found.report("LC081", &call.name);
            }
        }
    }
    for (makes, undoes) in PAIRS {
        match (call(life, makes), call(life, undoes)) {
            (Some(half), None) | (None, Some(half)) => found.report("LC083", &half.name),
            (Some(_), Some(_)) | (None, None) => {}
        }
    }
}

/// Checks the runs of all calls.
pub(crate) fn driven<'a>(worlds: &'a Worlds<'a>, found: &mut Findings) {
    let life = worlds.life;
    let mut run: BTreeSet<usize> = BTreeSet::new();
    let mut all: Vec<Runs<'_>> = Vec::new();
    for call in &life.calls {
        let (effects, runs) = run_call(worlds, call, found);
        run.extend(effects);
        all.push(runs);
        let visibility = Visibility::new(life, worlds, rpc(&call.name));
        if visibility
            .predicates(call)
            .into_iter()
            .any(|pred| !visibility.sees(pred))
        {
            found.report("LC086", &call.name);
        }
    }
    for (number, act) in worlds.acts.iter().enumerate() {
        if !run.contains(&number) {
            found.report("LC016", &act.name);
        }
    }
    let moves = all.iter().flat_map(|runs| runs.moves.values());
    idle_promises(worlds, moves, found);
    properties::in_calls(worlds, &all, found);
    for (makes, undoes) in PAIRS {
        let (Some(makes), Some(undoes)) = (call(life, makes), call(life, undoes)) else {
            continue;
        };
        let held = |call: &Call, wanted: bool| -> BTreeSet<usize> {
            let acts = worlds.acts.iter().filter(|act| call.by.contains(&act.name));
            let sets = acts.flat_map(|act| act.sets.iter().flatten());
            let held = sets.filter(|(var, _)| worlds.vars[*var].held);
            held.filter(|(var, value)| worlds.vars[*var].free.contains(value) != wanted)
                .map(|(var, _)| *var)
                .collect()
        };
        for var in held(makes, true).difference(&held(undoes, false)) {
            found.report("LC084", &worlds.vars[*var].name);
        }
    }
}

/// Result of one call in a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A precondition applies, by its position among those that the call evaluates.
    Precondition(usize),
    /// Its target holds.
    Done,
    /// One of its own refusals applies, by position.
    Refusal(usize),
    /// It runs this effect.
    Run(usize),
    /// It waits for a promise.
    Wait,
}

impl Answer {
    /// Returns true if the call ends with this answer.
    fn ends(self) -> bool {
        match self {
            Self::Precondition(_) | Self::Done | Self::Refusal(_) => true,
            Self::Run(_) | Self::Wait => false,
        }
    }
}

/// One call with its names looked up.
pub(crate) struct ResolvedCall<'a> {
    worlds: &'a Worlds<'a>,
    call: &'a Call,
    /// Preconditions that may apply, in order of evaluation, with their codes.
    pub(crate) preconditions: Vec<(Test, &'static str)>,
    refusals: Vec<Test>,
    steps: Vec<usize>,
}

impl<'a> ResolvedCall<'a> {
    pub(crate) fn new(worlds: &'a Worlds<'a>, call: &'a Call) -> Self {
        let declared = |name: &str| {
            let mut all = worlds.life.preconditions.iter();
            all.find(|(other, _)| other == name)
        };
        let asked = rpc(&call.name).preconditions.iter();
        let preconditions =
            asked.filter_map(|(name, code)| Some((declared(name)?.1.as_ref()?, *code)));
        let number = |name: &String| worlds.acts.iter().position(|act| act.name == *name);
        Self {
            worlds,
            call,
            preconditions: preconditions
                .map(|(pred, code)| (worlds.test(pred), code))
                .collect(),
            refusals: call
                .refusals
                .iter()
                .map(|(pred, _)| worlds.test(pred))
                .collect(),
            steps: call.by.iter().filter_map(number).collect(),
        }
    }

    /// Returns the result of the call in a world that is in this place.
    pub(crate) fn answer(&self, world: &World, place: Option<NodePlace>) -> Answer {
        let worlds = self.worlds;
        let mut preconditions = self.preconditions.iter();
        if let Some(at) = preconditions.position(|(when, _)| worlds.holds(when, world)) {
            return Answer::Precondition(at);
        }
        if self.is_done(world, place) {
            return Answer::Done;
        }
        let mut refusals = self.refusals.iter();
        if let Some(at) = refusals.position(|when| worlds.holds(when, world)) {
            return Answer::Refusal(at);
        }
        let mut steps = self.steps.iter().copied();
        let step = steps.find(|step| worlds.enabled(&worlds.acts[*step], world));
        step.map_or(Answer::Wait, Answer::Run)
    }

    fn is_done(&self, world: &World, place: Option<NodePlace>) -> bool {
        let Some(to) = &self.call.to else {
            return true;
        };
        match self.worlds.life.target_state(to) {
            Some(state) => place == Some(NodePlace::State(state)),
            None => self.worlds.holds(&self.worlds.test(to), world),
        }
    }
}

/// Explores one call, and returns the effects that it runs, and how.
fn run_call<'a>(
    worlds: &'a Worlds<'a>,
    call: &'a Call,
    found: &mut Findings,
) -> (BTreeSet<usize>, Runs<'a>) {
    let asking = ResolvedCall::new(worlds, call);
    let answer = |at: usize| asking.answer(&worlds.all[at], worlds.states[at]);
    let answers: Vec<Answer> = (0..worlds.all.len()).map(answer).collect();
    let visibility = Visibility::new(worlds.life, worlds, rpc(&call.name));
    let meets = |at: &usize| visibility.meets(&worlds.all[*at]);
    let met: Vec<usize> = (0..worlds.all.len()).filter(meets).collect();
    let policy: Vec<Option<Move>> = answers
        .iter()
        .map(|answer| match answer {
            Answer::Run(act) => Some(Move::Run(*act)),
            Answer::Precondition(_) | Answer::Done | Answer::Refusal(_) | Answer::Wait => None,
        })
        .collect();
    let rests = |at: usize| answers[at].ends() || !meets(&at);
    let drive = MoveGraph::new(worlds, &met, &policy, &rests, &mut Findings::default());
    if !drive.stuck.is_empty() {
        found.report("LC080", &call.name);
    }
    if !drive.loops.is_empty() {
        found.report("LC085", &call.name);
    }
    let waits = |at: &usize| answers[*at] == Answer::Wait && !drive.moves[at].is_empty();
    if call.within.is_none() && met.iter().any(waits) {
        found.report("LC088", &call.name);
    }
    let given = |refusal: &usize| {
        met.iter()
            .any(|at| answers[*at] == Answer::Refusal(*refusal))
    };
    if !(0..call.refusals.len()).all(|refusal| given(&refusal)) {
        found.report("LC087", &call.name);
    }
    let run = met.iter().filter_map(|at| match answers[*at] {
        Answer::Run(act) => Some(act),
        Answer::Precondition(_) | Answer::Done | Answer::Refusal(_) | Answer::Wait => None,
    });
    let run = run.collect();
    let mut runs = Runs::new(worlds, drive.moves, &policy, &rests);
    // Also those that stand behind the one that runs.
    for at in met.iter().copied().filter(|at| !answers[*at].ends()) {
        let world = &worlds.all[at];
        let steps = asking.steps.iter().copied();
        let enabled = steps.filter(|step| worlds.enabled(&worlds.acts[*step], world));
        runs.enabled.extend(enabled.map(|step| (at, step)));
    }
    (run, runs)
}
