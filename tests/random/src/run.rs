//! Run of one random lifecycle. The environment moves, the driver answers, and each of its steps is
//! checked against the meaning.

mod guided;
mod judge;
mod limited;
mod moves;
mod ownership;
mod prepared;
mod said;
mod succession;
mod suspended;
mod teardown;
mod time;
mod tools;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use lifecycle_client::kube::client_of;
use lifecycle_oracle::meaning::truth::truth;
use lifecycle_oracle::meaning::{Meaning, Named, Step, with_meaning};
use lifecycle_runtime::operator::{Naming, Operator};
use lifecycle_runtime::provider::Limit;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_simulator::server::User;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use crate::cluster::Cluster;
use crate::declared::Lookup;
use crate::dice::Dice;
use crate::machine::{Interpreted, parts_of};
use crate::outside::OutsideStore;
use crate::planted::Planted;
use crate::reality::Now;
use crate::watched::{Line, Pass, Watched};
pub use prepared::{Prepared, prepare, prepare_any};

/// Name of the one object whose lifecycle runs.
const SUBJECT: &str = "subject";
/// The name of objects that no input finds.
const BYSTANDER: &str = "bystander";
/// No write waits longer than this by itself.
const PATIENCE: Duration = Duration::from_secs(5000);
/// Maximum number of rounds until the run settles.
const ROUNDS: usize = 60;

/// Results of one run.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// Number of reconciliations that were checked against the meaning.
    pub passes: usize,
    /// Number of steps whose end was checked against the allowed results.
    pub steps: usize,
    /// Number of moves of the environment.
    pub moves: usize,
    /// Number of settled points of suspended objects without queries outside Kubernetes.
    pub suspended: usize,
    /// Statuses that were read as tools read them.
    pub readings: usize,
    /// Steps that ran when an object went.
    pub torn_down: usize,
    /// Number of objects whose cleanup was abandoned and reported.
    pub given_up: usize,
    /// Number of polls that were queried at the interval of the object, at a settled point.
    pub intervals: usize,
    /// Providers that bore only so much.
    pub limited: usize,
    /// Questions and calls that a provider put off.
    pub put_off: usize,
    /// Operators that were upgraded to a version that retires all.
    pub succeeded: usize,
    /// Objects that the version before had left.
    pub left_behind: usize,
    /// Times that nothing but the time passed.
    pub days: usize,
    /// Worlds that were seen.
    pub worlds: BTreeSet<Named>,
    /// True if the environment made a world that the lifecycle rules out, and the run ended.
    pub ruled_out: bool,
    /// Findings that cannot be explained, one line each.
    pub findings: Vec<String>,
}

/// Runs a lifecycle with the seed and the seeded bug.
///
/// # Panics
/// Panics if the oracle cannot read a lifecycle that the checker accepted.
pub fn run(
    prepared: &Prepared,
    planted: &Planted,
    cluster: &Cluster,
    seed: u64,
    moves: usize,
) -> Ran {
    let ran = with_meaning(&prepared.text, |meaning| {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build();
        let runtime = runtime.expect("a runtime on paused time");
        runtime.block_on(async {
            let mut run = Run::new((prepared, planted), meaning, cluster.copy(), seed);
            run.run_all(moves).await;
            run.ran.put_off = run.machine.outside.state().put_off;
            std::mem::take(&mut run.ran)
        })
    });
    ran.expect("the oracle reads what the checker accepts")
}

struct Run<'a> {
    meaning: &'a Meaning<'a>,
    /// Lifecycle against which the run is checked.
    machine: Interpreted,
    /// Lifecycle that runs: the same one, except for a mutant.
    driven: Interpreted,
    planted: Planted,
    cluster: Cluster,
    naming: Naming,
    limits: Vec<(&'static str, Limit)>,
    watched: Arc<Watched>,
    dice: Dice,
    ran: Ran,
    driver: Option<JoinHandle<()>>,
    /// Quiet time after which everything counts as settled.
    quiet: Duration,
    /// Time of the last move of the environment, and true if polls report it later.
    moved: Option<(Instant, bool)>,
    last: Option<Pass>,
    /// Time since which the object is suspended, according to the reconciliations.
    suspended: Option<Instant>,
    /// Dice for the next version, if there is one.
    successor: Option<Dice>,
    /// Worlds that the environment moves towards.
    towards: Vec<Named>,
    /// By kind, objects that no input finds.
    bystanders: BTreeMap<usize, Value>,
    is_over: bool,
    /// Objects of another controller by kind, as the environment left them.
    strangers: Vec<(usize, Value)>,
    /// Events of the run, a line each, if they are requested.
    story: Option<Vec<String>>,
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        self.stop();
    }
}

impl<'a> Run<'a> {
    fn new(
        (prepared, planted): (&Prepared, &Planted),
        meaning: &'a Meaning<'a>,
        cluster: Cluster,
        seed: u64,
    ) -> Self {
        let polled = prepared
            .ir
            .inputs
            .iter()
            .filter_map(|input| input.every)
            .map(|every| match every.said {
                Some(_) => every.resolve(None).0.max(said::LONGEST),
                None => every.resolve(None).0,
            })
            .max();
        let polled = polled.unwrap_or_default();
        let (limits, puts_off) = limited::limits(prepared.ir, seed);
        let limited = limits.len();
        let outside = OutsideStore::default();
        outside.state().puts_off = puts_off;
        let machine = Interpreted {
            ir: prepared.ir,
            declared: Arc::clone(&prepared.declared),
            outside,
        };
        let driven = prepared.driven.as_ref();
        let driven = driven.map_or_else(
            || machine.clone(),
            |(ir, declared)| Interpreted {
                ir,
                declared: Arc::clone(declared),
                outside: machine.outside.clone(),
            },
        );
        Self {
            meaning,
            machine,
            driven,
            limits,
            planted: planted.clone(),
            cluster,
            naming: Naming::new("random.test", "thing"),
            watched: Arc::default(),
            dice: Dice::new(seed),
            ran: Ran {
                limited,
                ..Ran::default()
            },
            driver: None,
            quiet: Duration::from_secs(20) + polled * 4,
            moved: None,
            last: None,
            suspended: None,
            successor: Self::succession(seed).filter(|_| prepared.towards.is_empty()),
            towards: prepared.towards.clone(),
            bystanders: BTreeMap::new(),
            is_over: false,
            strangers: Vec::new(),
            story: std::env::var("EXPLAIN").is_ok().then(Vec::new),
        }
    }

    fn start(&mut self) {
        let machine = self.planted.running(Arc::new(self.driven.clone()));
        let client = self.planted.through(client_of(Line {
            watched: Arc::clone(&self.watched),
            server: self.cluster.0.service(&User::admin()),
        }));
        let operator = Operator::new("random.test")
            .run_shared(machine, self.naming.clone())
            .seed(1)
            .randomness(self.machine.outside.mint())
            .instance("random")
            .clock(self.cluster.0.clone())
            .trace(Arc::clone(&self.watched) as Arc<_>);
        let limits = self.limits.iter();
        let operator = limits.fold(operator, |operator, (name, limit)| {
            operator.provider(name, *limit)
        });
        self.driver = Some(tokio::spawn(async move {
            let (_trigger, shutdown) = Shutdown::pair();
            let ended = operator.start(client, shutdown).await;
            ended.expect("the driver runs");
        }));
        self.last = None;
    }

    fn stop(&mut self) {
        if let Some(driver) = self.driver.take() {
            driver.abort();
        }
    }

    fn log_line(&mut self, line: impl FnOnce() -> String) {
        if let Some(story) = &mut self.story {
            story.push(line());
        }
    }

    fn find(&mut self, finding: impl Into<String>) {
        if let Some(story) = &self.story {
            let truth = self.now().map(|now| {
                truth(
                    self.meaning,
                    &now,
                    &self
                        .last
                        .as_ref()
                        .map(|l| l.world.clone())
                        .unwrap_or_default(),
                )
            });
            eprintln!("last {:#?}\ntruth {truth:#?}", self.last);
            for line in story {
                eprintln!("{line}");
            }
        }
        self.ran.findings.push(finding.into());
        self.is_over = true;
    }

    fn now(&self) -> Option<Now<'_>> {
        let this = self.cluster.get(0, SUBJECT)?;
        Some(Now {
            cluster: &self.cluster,
            machine: &self.machine,
            naming: &self.naming,
            this: Arc::new(this),
        })
    }

    /// Returns the current world; `None` if the object is gone.
    fn world(&mut self) -> Option<Named> {
        let observed = self
            .last
            .as_ref()
            .map(|pass| pass.world.clone())
            .unwrap_or_default();
        let truth = truth(self.meaning, &self.now()?, &observed);
        match truth {
            Ok(world) => Some(world),
            Err(circle) => {
                self.find(format!("circle: `{circle}` depends on itself"));
                None
            }
        }
    }

    async fn run_all(&mut self, moves: usize) {
        self.found();
        self.start();
        self.settle().await;
        for _ in 0..moves {
            if self.is_over {
                return;
            }
            if let Some(world) = self.next_world() {
                if self.make_for(&world) {
                    return self.end().await;
                }
            } else if self.has_clock() && self.dice.one_in(3) {
                self.let_a_day_pass().await;
            } else {
                self.disturb();
            }
            self.settle().await;
        }
        // Some are deleted while all goes wrong.
        if !self.is_over && self.dice.one_in(3) {
            return self.end().await;
        }
        self.be_fair().await;
        if self.is_over {
            return;
        }
        self.stay_at_rest().await;
        if self.is_over {
            return;
        }
        match self.successor.take() {
            Some(dice) => self.succeed(dice).await,
            None => self.end().await,
        }
    }

    /// Returns the world that the environment aims for next. It rolls no dice if the environment
    /// aims for no world.
    fn next_world(&mut self) -> Option<Named> {
        let first = self.towards.first()?;
        let world = self.dice.pick(&self.towards).unwrap_or(first);
        Some(world.clone())
    }

    /// Creates the object as a user would, and some objects around it.
    fn found(&mut self) {
        let mut spec = json!({});
        let paths = self.paths();
        for path in paths.iter().filter(|path| path[0] == "spec") {
            let mut at = &mut spec;
            for part in &path[1..] {
                at = &mut at[part.as_str()];
            }
            *at = json!("a");
        }
        self.cluster.create(0, SUBJECT, &json!({}), &spec);
        for _ in 0..self.machine.ir.times.len() {
            self.say_a_time();
        }
        let inputs = self.machine.ir.inputs.iter().enumerate();
        let optional = inputs.filter(|(_, input)| input.only_if.is_some());
        self.watched.wire().optional = optional.map(|(at, _)| at + 1).collect();
        self.make_bystanders();
        for input in 0..self.machine.ir.inputs.len() {
            if self.dice.one_in(2) {
                self.make(input);
            }
        }
    }

    /// Waits until the driver is idle, and checks its operations against the meaning.
    async fn settle(&mut self) {
        let mut rounds = 0;
        self.note_strangers();
        loop {
            let before = (self.watched.wire().all, self.watched.passes());
            sleep(self.quiet).await;
            rounds += 1;
            let hot = self.watched.wire().is_hot();
            if hot || rounds > ROUNDS {
                let writes = self.watched.wire().writes.clone();
                let last = writes
                    .iter()
                    .rev()
                    .take(6)
                    .cloned()
                    .collect::<Vec<_>>()
                    .join(", ");
                self.judge();
                self.find(format!("no rest: it writes on and on: {last}"));
                return;
            }
            if before == (self.watched.wire().all, self.watched.passes()) {
                break;
            }
        }
        self.watched.wire().writes.clear();
        self.judge();
        self.rests_in_truth();
    }

    /// Checks that the driver's last observation matches the actual world, and that nothing is left
    /// to do.
    fn rests_in_truth(&mut self) {
        if self.is_over {
            return;
        }
        let Some(world) = self.world() else {
            return;
        };
        if self.is_over {
            return;
        }
        if !self.meaning.knows(&world) {
            let (held, step) = (self.meaning.held_facts(&world), self.meaning.step(&world));
            if step == Step::Claim && self.meaning.is_seized(&world) {
                self.find(format!(
                    "held unclaimed: {} without a finalizer",
                    held.join(", ")
                ));
            } else {
                self.ran.ruled_out = true;
                self.is_over = true;
            }
            return;
        }
        let Some(last) = self.last.clone() else {
            self.find("nothing seen: the driver never looked");
            return;
        };
        let differs = |(name, value): (&String, &String)| {
            (last.world.get(name) != Some(value)).then(|| {
                format!(
                    "{name} is {value} and was seen as {}",
                    last.world.get(name).map_or("nothing", String::as_str)
                )
            })
        };
        let differences: Vec<String> = world.iter().filter_map(differs).collect();
        if !differences.is_empty() {
            self.find(format!("another world: {}", differences.join(", ")));
            return;
        }
        let step = self.meaning.step(&world);
        if step != Step::Rest {
            self.find(format!("nothing done: {step:?} is due and does not come"));
            return;
        }
        self.is_told(&world);
        self.asks_nobody(&world);
        self.leaves_others_alone();
        self.overrules_nobody();
    }

    /// Ends all refusals and silence, and keeps promises until none is left.
    async fn be_fair(&mut self) {
        self.help().await;
        for _ in 0..40 {
            if self.is_over {
                return;
            }
            let Some(world) = self.world() else {
                return;
            };
            let ways = self.meaning.promised(&world);
            if self.meaning.is_at_rest(&world) || ways.is_empty() {
                break;
            }
            let Some(way) = self.dice.pick(&ways).cloned() else {
                break;
            };
            self.moved = Some((Instant::now(), true));
            for (fact, value) in way {
                self.force(&fact, &value);
            }
            self.ran.moves += 1;
            self.settle().await;
        }
        if self.is_over {
            return;
        }
        if let Some(world) = self.world()
            && !self.meaning.is_at_rest(&world)
        {
            let place = self.meaning.classify(&world);
            self.find(format!(
                "no goal: it stays in {place:?} although all promises are kept"
            ));
        }
    }

    /// Nothing is refused or silent any more.
    async fn help(&mut self) {
        self.watched.wire().refused.clear();
        {
            let mut outside = self.machine.outside.state();
            outside.refused.clear();
            outside.puts_off = None;
            outside.answer();
        }
        self.moved = Some((Instant::now(), true));
        sleep(PATIENCE).await;
        self.settle().await;
    }

    /// For hours nothing is written; a process that starts anew writes nothing either.
    async fn stay_at_rest(&mut self) {
        let (before, day) = (self.watched.wire().all, self.day());
        let asked = self.poll_counts();
        sleep(PATIENCE).await;
        self.judge();
        self.was_asked(&asked, PATIENCE);
        // Another day may ask for other writes.
        if self.day() != day {
            return;
        }
        if self.watched.wire().all != before {
            let writes = self.watched.wire().writes.join(", ");
            self.find(format!("writes at rest: {writes}"));
            return;
        }
        self.stop();
        self.start();
        self.settle().await;
        if self.watched.wire().all != before && self.day() == day {
            self.find("writes at rest: after a new start");
        }
    }

    /// Paths of the object that something is looked up by, or wanted by.
    fn paths(&self) -> Vec<Vec<String>> {
        let mut paths = Vec::new();
        let lookups = self.machine.declared.lookups.iter();
        for lookup in lookups.flat_map(Lookup::each) {
            match lookup {
                Lookup::Name(path) | Lookup::Equal(_, path) | Lookup::At(path)
                    if path.input.is_none() =>
                {
                    paths.push(path.parts.clone());
                }
                _ => {}
            }
        }
        let inputs = self.machine.ir.inputs.iter();
        paths.extend(inputs.filter_map(|input| input.only_if).map(parts_of));
        paths
    }
}
