//! Random volumes without findings, run by the driver that ships and held against what they mean.

use std::collections::BTreeMap;
use std::thread;

use lifecycle_oracle::random::{draw_sound_volume, draw_volume};
use lifecycle_random::volume::objects::Objects;
use lifecycle_random::volume::prepared::{Prepared, prepare};
use lifecycle_random::volume::run::{Ran, run};
use lifecycle_random::volume::seeded::SeededCall;

use crate::number_from;

/// How many calls are made before everything is taken back.
const CALLS: usize = 12;

/// The volume with this number, where the checker finds nothing in it: one in four says whatever came to mind.
fn volume(number: u64, seeded: Option<SeededCall>) -> Option<Prepared> {
    if number.is_multiple_of(4) {
        return prepare(&draw_volume(number), false, seeded);
    }
    prepare(&draw_sound_volume(number), true, seeded)
}

/// What many runs showed together.
#[derive(Debug, Default)]
struct All {
    volumes: usize,
    calls: usize,
    steps: usize,
    moves: usize,
    crossed: usize,
    answers: BTreeMap<String, usize>,
    findings: Vec<String>,
}

impl All {
    fn add(&mut self, number: u64, ran: Ran) {
        self.volumes += 1;
        self.calls += ran.calls;
        self.steps += ran.steps;
        self.moves += ran.moves;
        self.crossed += ran.crossed;
        for (code, times) in ran.answers {
            *self.answers.entry(code).or_default() += times;
        }
        let findings = ran.findings.into_iter();
        self.findings
            .extend(findings.map(|finding| format!("volume {number}: {finding}")));
    }

    fn merge(mut self, other: Self) -> Self {
        self.volumes += other.volumes;
        self.calls += other.calls;
        self.steps += other.steps;
        self.moves += other.moves;
        self.crossed += other.crossed;
        for (code, times) in other.answers {
            *self.answers.entry(code).or_default() += times;
        }
        self.findings.extend(other.findings);
        self
    }
}

fn ran(numbers: impl Iterator<Item = u64>) -> All {
    let objects = Objects::new();
    let mut all = All::default();
    for number in numbers {
        if let Some(prepared) = volume(number, None) {
            all.add(number, run(&prepared, &objects, number, CALLS));
        }
    }
    all
}

pub(crate) fn each_volume_does_what_it_means() {
    let (first, count) = (number_from("FIRST", 0), number_from("VOLUMES", 800));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let all = thread::scope(|scope| {
        let part = |core: usize| {
            let numbers = (first..first + count).skip(core).step_by(cores);
            scope.spawn(move || ran(numbers))
        };
        let running: Vec<_> = (0..cores).map(part).collect();
        let parts = running
            .into_iter()
            .map(|part| part.join().expect("no run panics"));
        parts.fold(All::default(), All::merge)
    });
    eprintln!(
        "{} volumes of {count}, {} calls, {} effects, {} moves of the outside, {} crossed; {:?}",
        all.volumes, all.calls, all.steps, all.moves, all.crossed, all.answers
    );
    assert!(all.findings.is_empty(), "{}", all.findings.join("\n"));
    let is_whole = count < 800 || all.volumes * 4 >= 800 && all.answers.len() >= 8;
    assert!(
        is_whole,
        "too few volumes are clean, or too few answers are given"
    );
}

/// A driver that is wrong in one place, over volumes until one of them shows it.
pub(crate) fn each_seeded_mistake_of_calls_is_found() {
    let objects = Objects::new();
    let mut unnoticed = Vec::new();
    for seeded in SeededCall::ALL {
        let mut tried = 0;
        let found = (0..2000).find_map(|number| {
            let prepared = volume(number, Some(seeded))?;
            tried += 1;
            let ran = run(&prepared, &objects, number, CALLS);
            let found = ran.findings.into_iter().next()?;
            Some(format!("volume {number} shows it: {found}"))
        });
        match found {
            Some(found) => eprintln!("{seeded:?}: after {tried} volumes, {found}"),
            None => unnoticed.push(seeded),
        }
    }
    assert_eq!(unnoticed, [], "nobody notices that these are wrong");
}
