//! Random lifecycles without findings, run for real and checked against their meaning.
//! `LIFECYCLES=20000 FIRST=1000` runs others than the default ones. `EXPLAIN=1 FIRST=7
//! LIFECYCLES=1` prints one run step by step. `VOLUMES` sets the number of volumes.

#![allow(clippy::print_stderr, reason = "a test tells what it ran")]

mod random {
    pub(crate) mod mutants;
    pub(crate) mod volumes;
}

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::thread;

use lifecycle_oracle::random::draw;
use lifecycle_random::cluster::Cluster;
use lifecycle_random::planted::Planted;
use lifecycle_random::run::{Prepared, Ran, prepare, run};
use lifecycle_tests::harness;
use lifecycle_tests::mistakes::Mistake;
use lifecycle_tests::mistakes::table::{self, Instrument, Verdict};
use lifecycle_tests::named;
use random::mutants::counted::each_mutant_of_the_gallery_is_judged;
use random::mutants::every_mutant_of_the_listener_is_refused_or_harmless_for_a_reason;
use random::volumes::{each_seeded_mistake_of_calls_is_found, each_volume_does_what_it_means};

/// Number of moves that the environment makes before it is fair.
const MOVES: usize = 12;

fn main() -> ExitCode {
    harness::run_suites([(
        "random",
        named![
            calculation(): each_lifecycle_does_what_it_means, each_seeded_mistake_is_found,
            each_volume_does_what_it_means, each_seeded_mistake_of_calls_is_found,
            every_mutant_of_the_listener_is_refused_or_harmless_for_a_reason, each_mutant_of_the_gallery_is_judged,
        ],
    )])
}

fn number_from(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("it is a number"))
}

/// Totals over many runs.
#[derive(Debug, Default)]
struct Totals {
    lifecycles: usize,
    passes: usize,
    steps: usize,
    moves: usize,
    suspended: usize,
    readings: usize,
    torn_down: usize,
    given_up: usize,
    intervals: usize,
    limited: usize,
    /// Those that create something once.
    creating: usize,
    /// Those with a group.
    grouped: usize,
    /// Those with an object that exists only sometimes.
    optional: usize,
    succeeded: usize,
    left_behind: usize,
    put_off: usize,
    worlds: usize,
    ruled_out: usize,
    /// How often each kind of finding was made.
    kinds: BTreeMap<String, usize>,
    /// Each with the number of its lifecycle.
    findings: Vec<String>,
    words: BTreeSet<String>,
}

impl Totals {
    fn add(&mut self, number: u64, text: &str, ran: &Ran) {
        self.lifecycles += 1;
        self.passes += ran.passes;
        self.steps += ran.steps;
        self.moves += ran.moves;
        self.suspended += ran.suspended;
        self.readings += ran.readings;
        self.torn_down += ran.torn_down;
        self.given_up += ran.given_up;
        self.intervals += ran.intervals;
        self.limited += ran.limited;
        self.creating += usize::from(text.contains(" create "));
        self.optional += usize::from(text.contains(" if spec."));
        self.grouped += usize::from(text.contains(": owned {"));
        self.succeeded += ran.succeeded;
        self.left_behind += ran.left_behind;
        self.put_off += ran.put_off;
        self.worlds += ran.worlds.len();
        self.ruled_out += usize::from(ran.ruled_out);
        let words = text.split(|c: char| !c.is_alphanumeric());
        self.words.extend(words.map(str::to_owned));
        for finding in &ran.findings {
            let kind = finding.split(':').next().unwrap_or_default();
            *self.kinds.entry(kind.to_owned()).or_default() += 1;
            self.findings.push(format!("lifecycle {number}: {finding}"));
        }
    }
}

fn ran(numbers: impl Iterator<Item = u64> + Send) -> Totals {
    let cluster = Cluster::new();
    let explain = std::env::var("EXPLAIN").is_ok();
    let (mut all, nothing) = (Totals::default(), Planted::nothing());
    for number in numbers {
        let text = draw(number);
        if let Some(prepared) = prepare(&text) {
            if explain {
                eprintln!("{text}");
            }
            all.add(
                number,
                &text,
                &run(&prepared, &nothing, &cluster, number, MOVES),
            );
        }
    }
    all
}

fn each_lifecycle_does_what_it_means() {
    let (first, count) = (number_from("FIRST", 0), number_from("LIFECYCLES", 1500));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let parts: Vec<Totals> = thread::scope(|scope| {
        let part = |core: usize| {
            let numbers = (first..first + count).skip(core).step_by(cores);
            scope.spawn(move || ran(numbers))
        };
        let running: Vec<_> = (0..cores).map(part).collect();
        running
            .into_iter()
            .map(|part| part.join().expect("no run panics"))
            .collect()
    });
    let sum = |of: fn(&Totals) -> usize| parts.iter().map(of).sum::<usize>();
    eprintln!(
        "{} lifecycles of {count}, {} worlds, {} passes, {} steps, {} moves of the outside, {} rests while suspended, {} statuses as tools read them, {} steps of teardowns, {} given up, {} polls asked as often as the object says, {} providers with limits that put off {} times, {} with groups, {} upgrades with {} objects left; {} ended in what they rule out",
        sum(|p| p.lifecycles),
        sum(|p| p.worlds),
        sum(|p| p.passes),
        sum(|p| p.steps),
        sum(|p| p.moves),
        sum(|p| p.suspended),
        sum(|p| p.readings),
        sum(|p| p.torn_down),
        sum(|p| p.given_up),
        sum(|p| p.intervals),
        sum(|p| p.limited),
        sum(|p| p.put_off),
        sum(|p| p.grouped),
        sum(|p| p.succeeded),
        sum(|p| p.left_behind),
        sum(|p| p.ruled_out),
    );
    let mut kinds: BTreeMap<&String, usize> = BTreeMap::new();
    for (kind, times) in parts.iter().flat_map(|part| &part.kinds) {
        *kinds.entry(kind).or_default() += times;
    }
    let found: Vec<&String> = parts.iter().flat_map(|part| &part.findings).collect();
    assert!(
        found.is_empty(),
        "{kinds:?}\n{}",
        found
            .iter()
            .map(|f| f.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    );
    let suspended = sum(|p| p.suspended);
    assert!(count < 1500 || suspended > 50, "suspended: {suspended}");
    let readings = sum(|p| p.readings);
    assert!(count < 1500 || readings > 200, "readings: {readings}");
    let intervals = sum(|p| p.intervals);
    assert!(count < 1500 || intervals > 10, "intervals: {intervals}");
    let (limited, put_off) = (sum(|p| p.limited), sum(|p| p.put_off));
    assert!(
        count < 1500 || limited > 20 && put_off > 20,
        "limited: {limited}, put off: {put_off}"
    );
    let creating = sum(|p| p.creating);
    assert!(count < 1500 || creating > 20, "creating: {creating}");
    let optional = sum(|p| p.optional);
    assert!(count < 1500 || optional > 20, "optional: {optional}");
    let grouped = sum(|p| p.grouped);
    assert!(count < 1500 || grouped > 5, "with groups: {grouped}");
    let (succeeded, left) = (sum(|p| p.succeeded), sum(|p| p.left_behind));
    assert!(
        count < 1500 || succeeded > 40 && left > 20,
        "upgrades: {succeeded}, left: {left}"
    );
}

/// Number of lifecycles that are tried for each seeded bug.
const SHOWN: usize = 30;

/// A runtime or an author that is wrong in one place, over lifecycles until one of them shows it.
fn each_seeded_mistake_is_found() {
    let cluster = Cluster::new();
    let prepared: Vec<(u64, Prepared)> = (0..1500)
        .filter_map(|number| Some((number, prepare(&draw(number))?)))
        .collect();
    let found = |mistake: Mistake| {
        // The version that follows a lifecycle retires its inputs.
        let fits = |(_, prepared): &&(u64, Prepared)| {
            mistake == Mistake::Leftovers || mistake.absence(prepared.ir()).is_none()
        };
        let planted = Planted::new(
            move |machine| mistake.machine(machine),
            move |client| mistake.line("Thing0", client),
        );
        let shown = prepared.iter().filter(fits).take(SHOWN).enumerate();
        for (before, (number, prepared)) in shown {
            let ran = run(prepared, &planted, &cluster, *number, MOVES);
            if let Some(finding) = ran.findings.into_iter().next() {
                eprintln!("{mistake:?}: after {before} lifecycles, {number} shows it: {finding}");
                let sound = run(prepared, &Planted::nothing(), &cluster, *number, MOVES);
                assert!(sound.findings.is_empty(), "{:?}", sound.findings);
                let kind = finding.split(':').next().unwrap_or_default();
                return Verdict::Found(kind.to_owned());
            }
        }
        let tried = prepared.iter().filter(fits).take(SHOWN).count();
        assert!(tried > 0, "{mistake:?} can be planted nowhere");
        eprintln!("{mistake:?}: none of {tried} lifecycles shows it");
        Verdict::Missed
    };
    let verdict = |mistake| {
        if mistake == Mistake::Lease {
            return Verdict::NotPlanted("no Lease");
        }
        found(mistake)
    };
    table::hold(
        Instrument::Random,
        &Mistake::all()
            .map(|mistake| (mistake, verdict(mistake)))
            .collect(),
    );
}
