//! The calls of a volume: what each may answer, what it can see, and where its drive ends.
//! The table is written apart from the checker's, from the lists of the specification.

use std::collections::BTreeSet;

use crate::drive::Drive;
use crate::findings::Found;
use crate::moves::Move;
use crate::syntax::{Call, Input, Life, Pred, atoms};
use crate::worlds::{NodePlace, Test, Worlds};

/// What the interface says of a call: what its request carries, whether it carries what is wanted, whether it is to the node, its preconditions and further codes.
struct Rpc {
    name: &'static str,
    carries: &'static [&'static str],
    wants: bool,
    node: bool,
    preconditions: &'static [(&'static str, &'static str)],
    codes: &'static [&'static str],
}

const RPCS: [Rpc; 7] = [
    Rpc {
        name: "CreateVolume",
        carries: &["name"],
        wants: true,
        node: false,
        preconditions: &[("unfit", "INVALID_ARGUMENT"), ("differs", "ALREADY_EXISTS")],
        codes: &["NOT_FOUND", "RESOURCE_EXHAUSTED", "OUT_OF_RANGE"],
    },
    Rpc {
        name: "DeleteVolume",
        carries: &["volume_id"],
        wants: false,
        node: false,
        preconditions: &[("in_use", "FAILED_PRECONDITION")],
        codes: &[],
    },
    Rpc {
        name: "ValidateVolumeCapabilities",
        carries: &["volume_id"],
        wants: true,
        node: false,
        preconditions: &[("unknown", "NOT_FOUND")],
        codes: &[],
    },
    Rpc {
        name: "NodeStageVolume",
        carries: &["volume_id", "staging_target_path"],
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
        wants: false,
        node: true,
        preconditions: &[],
        codes: &["FAILED_PRECONDITION"],
    },
    Rpc {
        name: "NodePublishVolume",
        carries: &["volume_id", "staging_target_path", "target_path"],
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

fn rpc(name: &str) -> &'static Rpc {
    let found = RPCS.iter().find(|rpc| rpc.name == name);
    found.expect("no lifecycle that is compared misspells a call")
}

fn call<'a>(life: &'a Life, name: &str) -> Option<&'a Call> {
    life.calls.iter().find(|call| call.name == name)
}

/// What can be said of calls without a world.
pub(crate) fn declared(life: &Life, found: &mut Found) {
    for call in &life.calls {
        let rpc = rpc(&call.name);
        let lists = |code: &str| {
            let of_precondition = rpc.preconditions.iter().any(|(_, answer)| *answer == code);
            ALWAYS.contains(&code) || rpc.codes.contains(&code) || of_precondition
        };
        let codes = call.refusals.iter().map(|(_, code)| code);
        if !codes.chain(&call.within).all(|code| lists(code)) {
            found.say("LC081", &call.name);
        }
    }
    let mut missing: BTreeSet<&str> = BTreeSet::new();
    for call in &life.calls {
        for (name, _) in rpc(&call.name).preconditions {
            let optional = *name == "unstaged" && self::call(life, "NodeStageVolume").is_none();
            let decided = life.preconditions.iter().any(|(other, _)| other == name);
            if !optional && !decided && missing.insert(name) {
                found.say("LC081", &call.name);
            }
        }
    }
    for (makes, undoes) in PAIRS {
        match (call(life, makes), call(life, undoes)) {
            (Some(half), None) | (None, Some(half)) => found.say("LC083", &half.name),
            (Some(_), Some(_)) | (None, None) => {}
        }
    }
}

/// What the drives of all calls show.
pub(crate) fn driven(worlds: &Worlds<'_>, found: &mut Found) {
    let life = worlds.life;
    let mut run: BTreeSet<usize> = BTreeSet::new();
    for call in &life.calls {
        run.extend(drive(worlds, call, found));
        let visibility = Visibility {
            life,
            worlds,
            rpc: rpc(&call.name),
        };
        if visibility
            .asked(call)
            .into_iter()
            .any(|pred| !visibility.sees(pred))
        {
            found.say("LC086", &call.name);
        }
    }
    for (number, act) in worlds.acts.iter().enumerate() {
        if !run.contains(&number) {
            found.say("LC016", &act.name);
        }
    }
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
            found.say("LC084", &worlds.vars[*var].name);
        }
    }
}

/// What one call answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    End,
    Refusal(usize),
    Run(usize),
    Wait,
}

/// Drives one call; answers with the effects that it runs.
fn drive(worlds: &Worlds<'_>, call: &Call, found: &mut Found) -> BTreeSet<usize> {
    let life = worlds.life;
    let rpc = rpc(&call.name);
    let declared = |name: &str| life.preconditions.iter().find(|(other, _)| other == name);
    let asked = rpc.preconditions.iter();
    let asked = asked.filter_map(|(name, _)| declared(name)?.1.as_ref());
    let preconditions: Vec<Test> = asked.map(|pred| worlds.test(pred)).collect();
    let refusals = call.refusals.iter().map(|(pred, _)| worlds.test(pred));
    let refusals: Vec<Test> = refusals.collect();
    let number = |name: &String| worlds.acts.iter().position(|act| act.name == *name);
    let steps: Vec<usize> = call.by.iter().filter_map(number).collect();
    let done = |at: usize| match &call.to {
        None => true,
        Some(to) => match life.target_state(to) {
            Some(state) => worlds.states[at] == Some(NodePlace::State(state)),
            None => worlds.holds(&worlds.test(to), &worlds.all[at]),
        },
    };
    let answer = |at: usize| {
        let world = &worlds.all[at];
        if preconditions.iter().any(|one| worlds.holds(one, world)) || done(at) {
            return Answer::End;
        }
        if let Some(refusal) = refusals.iter().position(|when| worlds.holds(when, world)) {
            return Answer::Refusal(refusal);
        }
        let mut steps = steps.iter().copied();
        let step = steps.find(|step| worlds.enabled(&worlds.acts[*step], world));
        step.map_or(Answer::Wait, Answer::Run)
    };
    let answers: Vec<Answer> = (0..worlds.all.len()).map(answer).collect();
    let visibility = Visibility { life, worlds, rpc };
    let fixed: Vec<usize> = (0..worlds.vars.len())
        .filter(|var| visibility.is_fixed(*var))
        .collect();
    let meets = |at: &usize| {
        let first = |var: &usize| worlds.all[*at][*var] == worlds.vars[*var].answers[0];
        fixed.iter().all(first)
    };
    let met: Vec<usize> = (0..worlds.all.len()).filter(meets).collect();
    let policy: Vec<Option<Move>> = answers
        .iter()
        .map(|answer| match answer {
            Answer::Run(act) => Some(Move::Run(*act)),
            Answer::End | Answer::Refusal(_) | Answer::Wait => None,
        })
        .collect();
    let rests = |at: usize| {
        let ends = matches!(answers[at], Answer::End | Answer::Refusal(_));
        ends || !meets(&at)
    };
    let drive = Drive::new(worlds, &met, &policy, &rests, &mut Found::default());
    if !drive.stuck.is_empty() {
        found.say("LC080", &call.name);
    }
    if !drive.loops.is_empty() {
        found.say("LC085", &call.name);
    }
    let waits = |at: &usize| answers[*at] == Answer::Wait && !drive.moves[at].is_empty();
    if call.within.is_none() && met.iter().any(waits) {
        found.say("LC088", &call.name);
    }
    let given = |refusal: &usize| {
        met.iter()
            .any(|at| answers[*at] == Answer::Refusal(*refusal))
    };
    if !(0..refusals.len()).all(|refusal| given(&refusal)) {
        found.say("LC087", &call.name);
    }
    met.iter()
        .filter_map(|at| match answers[*at] {
            Answer::Run(act) => Some(act),
            Answer::End | Answer::Refusal(_) | Answer::Wait => None,
        })
        .collect()
}

/// What a call can see.
struct Visibility<'a> {
    life: &'a Life,
    worlds: &'a Worlds<'a>,
    rpc: &'static Rpc,
}

impl<'a> Visibility<'a> {
    /// What a call asks for by itself: preconditions, target, refusals. A volume that is being created has no preconditions to see.
    fn asked(&self, call: &'a Call) -> Vec<&'a Pred> {
        let mut all: Vec<&Pred> = call.refusals.iter().map(|(when, _)| when).collect();
        if call.name != "CreateVolume" {
            let asks = |name: &str| {
                self.rpc
                    .preconditions
                    .iter()
                    .any(|(other, _)| *other == name)
            };
            let preconditions = self
                .life
                .preconditions
                .iter()
                .filter(|(name, _)| asks(name));
            all.extend(preconditions.filter_map(|(_, when)| when.as_ref()));
        }
        match call.to.as_ref().map(|to| (to, self.life.target_state(to))) {
            None => {}
            Some((to, None)) => all.push(to),
            Some((_, Some(state))) => {
                all.extend(self.life.states[..=state].iter().map(|state| &state.when));
            }
        }
        all
    }

    /// Asked of nothing but a request that does not say.
    fn is_fixed(&self, var: usize) -> bool {
        let reads = self.worlds.reach.reads.get(&self.worlds.vars[var].name);
        let plain = |name: &String| name == "request" || self.life.value(name).is_some();
        !self.rpc.wants
            && reads.is_some_and(|reads| reads.contains("request") && reads.iter().all(plain))
    }

    fn sees(&self, pred: &Pred) -> bool {
        pred.parts().into_iter().all(|(name, asked)| {
            let fixed = self.worlds.var(name).is_some_and(|var| self.is_fixed(var));
            fixed || self.answers(name, asked)
        })
    }

    /// Whether a question can be answered.
    fn answers(&self, name: &str, asked: Option<&[String]>) -> bool {
        if let Some(fact) = self.life.fact(name) {
            let from = fact.from.iter().all(|one| self.reads(one));
            return from && fact.chain.iter().all(|(given, _)| self.decides(given));
        }
        let Some(input) = self.life.input(name) else {
            return true;
        };
        let is = |word: &str| asked.is_some_and(|asked| asked.iter().any(|one| one == word));
        let compares = is("Behind") || is("Surplus") || is("Stale") != is("Current");
        let effects = self.life.effects.iter();
        let mut builders = effects.filter(|one| one.on == name && one.verb == "apply");
        let builds = |from: &Vec<String>| from.iter().all(|one| self.reads(one));
        self.finds(input) && (!compares || builders.all(|one| builds(&one.from)))
    }

    /// What a `given` asks of the request has a value even if the request does not say.
    fn decides(&self, given: &Pred) -> bool {
        given.parts().into_iter().all(|(name, asked)| {
            let of_request = |name: &str| {
                let fact = self.life.fact(name);
                fact.is_some_and(|fact| fact.from.iter().any(|one| one == "request"))
            };
            let fixed = self.worlds.var(name).is_some_and(|var| self.is_fixed(var));
            fixed || of_request(name) || self.answers(name, asked)
        })
    }

    /// Whether a name in a `from` is there.
    fn reads(&self, name: &str) -> bool {
        if name == "request" {
            return self.rpc.wants;
        }
        if let Some(value) = self.life.value(name) {
            let from = value.from.iter().all(|one| self.reads(one));
            return from && value.given.iter().all(|given| self.decides(given));
        }
        self.life.input(name).is_none_or(|input| self.finds(input))
    }

    /// Whether an input can be looked up.
    fn finds(&self, input: &Input) -> bool {
        let path = |path: &String| match path.split_once('.') {
            Some(("request", field)) => self.rpc.carries.contains(&field),
            Some((root, _)) => self.reads(root),
            None => self.reads(path),
        };
        let here = input.own != "probe" || self.rpc.node;
        let asked = atoms(input.given.as_ref()).is_empty()
            || input.given.iter().all(|given| self.decides(given));
        here && asked
            && input.from.iter().all(|one| self.reads(one))
            && input.paths.iter().all(path)
    }
}
