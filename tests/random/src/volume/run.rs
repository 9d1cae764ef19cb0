//! Run of one random volume. Callers call, the environment moves, and each effect and each answer
//! is checked against the meaning.

mod judge;
mod moves;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lifecycle_client::kube::client_of;
use lifecycle_csi::in_process::InProcessDriver;
use lifecycle_csi::{Driver, Plugin, ServedVolume};
use lifecycle_oracle::meaning::{Meaning, with_meaning};
use lifecycle_runtime::machine::ir::{Call, Lifecycle, Mode, Rpc, Verb};
use lifecycle_runtime::operator::Naming;
use lifecycle_runtime::shutdown::{Shutdown, Trigger};
use serde_json::json;
use tokio::time::{Instant, sleep};

use judge::Open;

use super::line::CallLine;
use super::log::{Scene, Watched};
use super::machine::{VolumeMachine, is_object};
use super::objects::{Objects, Reads, reading};
use super::prepared::Prepared;
use super::request::CallRequest;
use super::seeded::SeededCall;
use crate::dice::Dice;
use crate::machine::Interpreted;
use crate::outside::OutsideStore;

/// Volumes and places that callers ask for.
const VOLUMES: [&str; 2] = ["v1", "v2"];
const TARGETS: [&str; 2] = ["/pods/a/mount", "/pods/b/mount"];
/// After this, everything that happened is seen, and nothing that was read is good any more.
const QUIET: Duration = Duration::from_secs(20);
/// Number of times that the cleanup of remaining resources is requested.
const ATTEMPTS: usize = 12;

/// Results of one run.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// Number of calls that were checked against the meaning.
    pub calls: usize,
    /// Effects that were.
    pub steps: usize,
    /// Number of moves of the environment.
    pub moves: usize,
    /// Answers by code; `OK` is one.
    pub answers: BTreeMap<String, usize>,
    /// Calls that were repeated, crossed or given up while they waited.
    pub crossed: usize,
    /// Findings that cannot be explained, one line each.
    pub findings: Vec<String>,
}

/// Runs a volume with the seed.
///
/// # Panics
/// Panics if the oracle cannot read a volume that the checker accepted.
pub fn run(prepared: &Prepared, objects: &Objects, seed: u64, calls: usize) -> Ran {
    let ran = with_meaning(&prepared.text, |meaning| {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build();
        let runtime = runtime.expect("a runtime on paused time");
        runtime.block_on(async {
            let mut run = Run::new(prepared, meaning, objects.copy(), seed);
            run.run_all(calls).await;
            std::mem::take(&mut run.ran)
        })
    });
    ran.expect("the oracle reads what the checker accepts")
}

struct Run<'a> {
    meaning: &'a Meaning<'a>,
    machine: VolumeMachine,
    watched: Watched,
    dice: Dice,
    ran: Ran,
    driver: Option<Arc<InProcessDriver>>,
    /// How objects of each input are read.
    reads: Vec<Reads>,
    /// Answers that requests about each volume carry.
    said: Vec<BTreeMap<String, u64>>,
    trigger: Option<Trigger>,
    gives_back: bool,
    is_over: bool,
    /// Events of the run, a line each, if they are requested.
    story: Option<Vec<String>>,
}

impl<'a> Run<'a> {
    fn new(prepared: &Prepared, meaning: &'a Meaning<'a>, objects: Objects, seed: u64) -> Self {
        let kinds = prepared.ir.inputs.len();
        let watched = Watched {
            log: Arc::default(),
            scene: Scene {
                objects,
                outside: OutsideStore::default(),
                kinds,
            },
        };
        let mut dice = Dice::new(seed);
        let all = [
            Reads::Once,
            Reads::Watched,
            Reads::WatchedOnRead,
            Reads::AfterStage,
        ];
        let mut read = || *dice.pick(&all).unwrap_or(&Reads::Once);
        let reads: Vec<Reads> = (0..kinds).map(|_| read()).collect();
        Self {
            meaning,
            machine: VolumeMachine {
                inner: Interpreted {
                    ir: prepared.ir,
                    declared: Arc::clone(&prepared.declared),
                    outside: watched.scene.outside.clone(),
                },
                watched: watched.clone(),
                seeded: prepared.seeded,
            },
            watched,
            dice,
            ran: Ran::default(),
            driver: None,
            reads,
            said: Vec::new(),
            trigger: None,
            gives_back: prepared.gives_back,
            is_over: false,
            story: std::env::var("EXPLAIN").is_ok().then(Vec::new),
        }
    }

    fn ir(&self) -> &'static Lifecycle {
        self.machine.inner.ir
    }

    fn log_line(&mut self, line: impl FnOnce() -> String) {
        if let Some(story) = &mut self.story {
            story.push(line());
        }
    }

    fn find(&mut self, finding: impl Into<String>) {
        let finding = finding.into();
        for line in self.story.iter().flatten() {
            eprintln!("{line}");
        }
        self.ran.findings.push(finding);
        self.is_over = true;
    }

    /// A process of the driver, which remembers nothing of the one before.
    fn start(&mut self) {
        let ir = self.ir();
        let deletes = (0..ir.inputs.len()).map(|input| {
            let mut effects = ir.effects.iter();
            let found = effects.find(|e| e.target == input && e.verb == Verb::Delete);
            found.map(|effect| effect.name.to_owned())
        });
        let client = client_of(CallLine {
            watched: self.watched.clone(),
            server: self.watched.scene.objects.0.0.clone(),
            deletes: deletes.collect(),
            deaf: self.machine.seeded == Some(SeededCall::Deafness),
        });
        let mut driver = Driver::node(Plugin::new("random.test", "1"), "unused", "node-1");
        for (number, reads) in self.reads.iter().enumerate() {
            if is_object(ir, number) {
                driver = reading(driver, number, *reads);
            }
        }
        let served = ServedVolume {
            machine: Arc::new(self.machine.clone()),
            naming: Naming::new("random.test", "thing"),
            driver,
        };
        let (trigger, shutdown) = Shutdown::pair();
        let driver = InProcessDriver::new(vec![served], Some(&client), (1, &shutdown));
        let driver = driver.expect("calls support what was let through");
        self.trigger = Some(trigger);
        self.driver = Some(Arc::new(driver.watching(&client, 1)));
    }

    async fn run_all(&mut self, calls: usize) {
        self.found();
        self.start();
        sleep(QUIET).await;
        for _ in 0..calls {
            self.between().await;
            let Some(asked) = self.some_call() else {
                return;
            };
            if self.dice.one_in(3) {
                // The environment is fair for once, so that a call makes as much progress as it
                // can.
                self.heal();
                self.provide(&asked);
                sleep(QUIET).await;
                self.calm(asked).await;
            } else {
                self.disturbed(asked).await;
            }
            if self.is_over {
                return;
            }
        }
        self.heal();
        sleep(QUIET).await;
        self.take_back().await;
    }

    /// Creates some objects, and some content of requests.
    fn found(&mut self) {
        let facts = self.meaning.answers();
        for _ in VOLUMES {
            let mut said = BTreeMap::new();
            for (fact, answers) in &facts {
                let is_asked = self.reads_request(fact);
                if is_asked && self.dice.one_in(3) {
                    let points = u64::try_from(self.dice.roll(answers.len())).unwrap_or(0);
                    said.insert(fact.clone(), points);
                }
            }
            self.said.push(said);
        }
        for input in 0..self.ir().inputs.len() {
            if self.dice.roll(3) > 0
                && let Some(asked) = self.some_call()
            {
                self.make(&asked, input);
            }
        }
    }

    /// Creates the objects that a call may find, and keeps promises about them.
    fn provide(&mut self, asked: &CallRequest) {
        for input in 0..self.ir().inputs.len() {
            if self.dice.roll(4) > 0 {
                self.make(asked, input);
            }
        }
        for _ in 0..self.dice.roll(3) {
            self.keep_one(asked);
        }
    }

    /// Performs the events between two calls.
    async fn between(&mut self) {
        // A publish after a stage takes over its observation. A move of the environment is
        // observed by both or by neither.
        if self.dice.one_in(3) {
            return sleep(Duration::from_millis(50)).await;
        }
        for _ in 0..self.dice.roll(3) {
            let asked = self.some_call();
            if let Some(asked) = asked {
                self.disturb(&asked);
            }
        }
        if self.dice.one_in(8) {
            self.log_line(|| "a new process".to_owned());
            self.start();
        }
        sleep(QUIET).await;
    }

    /// A call that a caller may make.
    fn some_call(&mut self) -> Option<CallRequest> {
        let calls: Vec<Rpc> = self.ir().calls.iter().map(|call| call.rpc).collect();
        let rpc = *self.dice.pick(&calls)?;
        let volume = self.dice.roll(4) / 3;
        let mut asked = self.build_request(rpc, volume, 0);
        if self.dice.one_in(4) {
            TARGETS[1].clone_into(&mut asked.target);
        }
        if self.dice.one_in(8) {
            asked.answers.clear();
        }
        asked.is_broken = self.dice.one_in(30);
        Some(asked)
    }

    fn build_request(&self, rpc: Rpc, volume: usize, target: usize) -> CallRequest {
        CallRequest {
            rpc,
            volume: VOLUMES[volume].to_owned(),
            target: TARGETS[target].to_owned(),
            answers: self.said.get(volume).cloned().unwrap_or_default(),
            is_broken: false,
        }
    }

    fn declared(&self, rpc: Rpc) -> &'static Call {
        let mut calls = self.ir().calls.iter();
        let found = calls.find(|call| call.rpc == rpc);
        found.expect("only declared calls are made")
    }

    /// Nothing is refused or silent any more, and nothing lingers.
    fn heal(&mut self) {
        {
            let mut plan = self.watched.log.plan();
            plan.fault = None;
            plan.refused.clear();
        }
        {
            let mut outside = self.watched.scene.outside.state();
            outside.refused.clear();
            outside.answer();
        }
        self.loosen();
    }

    /// Takes back everything that was made.
    async fn take_back(&mut self) {
        let undoing = [
            Rpc::NodeUnpublishVolume,
            Rpc::NodeUnstageVolume,
            Rpc::DeleteVolume,
        ];
        let undoing = undoing
            .into_iter()
            .filter(|rpc| self.ir().calls.iter().any(|call| call.rpc == *rpc));
        let mut all = Vec::new();
        for rpc in undoing {
            for volume in 0..VOLUMES.len() {
                all.extend(
                    (0..TARGETS.len()).map(|target| self.build_request(rpc, volume, target)),
                );
            }
        }
        for asked in &all {
            self.take_one_back(asked).await;
            if self.is_over {
                return;
            }
        }
        if !self.gives_back {
            return;
        }
        for asked in &all {
            let now = self.watched.scene.now();
            let Some(look) = self.observe_call(asked, &now, &Vec::new()) else {
                return;
            };
            let answers = self.meaning.answers();
            // A call cannot report a fact that it cannot observe.
            let is_seen = |fact: &String| {
                let mut answers = answers.iter().filter(|(name, _)| name == fact);
                answers.any(|(_, values)| look.world.get(fact).is_some_and(|v| values.contains(v)))
            };
            let mut held = self.meaning.held_facts(&look.world);
            held.retain(is_seen);
            if !held.is_empty() {
                self.find(format!("leak: {held:?} is held after {:?}", asked.rpc));
                return;
            }
        }
    }

    async fn take_one_back(&mut self, asked: &CallRequest) {
        let mut last = String::new();
        for _ in 0..ATTEMPTS {
            let Some(answer) = self.calm(asked.clone()).await else {
                return;
            };
            if answer == "OK" {
                return;
            }
            last = answer;
            self.heal();
            sleep(QUIET).await;
        }
        if self.gives_back {
            self.find(format!(
                "not given back: {:?} is {last} for ever",
                asked.rpc
            ));
        }
    }

    /// A call that nothing disturbs, with every promise kept; its answer, unless something was found.
    async fn calm(&mut self, asked: CallRequest) -> Option<String> {
        let limit = Duration::from_secs(150);
        let mut open = self.open(asked, limit);
        loop {
            if let Some(answer) = self.wait(&mut open).await {
                return (!self.is_over).then_some(answer);
            }
            if self.is_over {
                return None;
            }
            self.keep_promise(&mut open);
        }
    }

    /// Begins a call.
    fn open(&mut self, asked: CallRequest, limit: Duration) -> Open {
        let driver = self.driver.as_ref().map(Arc::clone);
        let driver = driver.expect("a process runs");
        let request = asked.request();
        self.log_line(|| format!("{asked:?} within {limit:?}"));
        let call = async move { driver.call(request, limit).await.map(|_| ()) };
        Open::new(asked, limit, tokio::spawn(call), Instant::now())
    }

    /// Returns true if a question is about the request.
    fn reads_request(&self, fact: &str) -> bool {
        let vars = self.ir().vars.iter();
        let mut vars = vars.zip(&self.machine.inner.declared.facts);
        let from = vars.find(|(var, _)| var.name == fact);
        let from = from.and_then(|(_, from)| from.as_ref());
        from.is_some_and(|from| from.iter().any(|(name, _)| name == "request"))
    }

    /// Returns true if a call queries an input and the input is not an object.
    fn is_asked(&self, input: usize) -> bool {
        matches!(self.ir().inputs[input].mode, Mode::Poll | Mode::Probe)
    }
}

/// Returns the specification in which an object answers questions.
fn spec(made: usize) -> serde_json::Value {
    json!({ "made": made })
}
