//! Moves of the environment and of callers: generic moves on objects and answers, calls that are
//! crossed, repeated and given up.

use std::time::Duration;

use lifecycle_oracle::meaning::truth::given_in_call;
use lifecycle_runtime::machine::ir::{Code, Mode, Origin, Rpc};
use serde_json::json;
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use super::judge::Open;
use super::{Run, spec};
use crate::author::{self, Document};
use crate::declared::Lookup;
use crate::volume::log::{CallEvent, Fault};
use crate::volume::machine::is_object;
use crate::volume::reality::RequestView;
use crate::volume::request::CallRequest;

/// How long a caller has patience, in seconds.
const LIMITS: [u64; 3] = [20, 60, 200];

impl Run<'_> {
    /// Runs a call with interruptions.
    pub(super) async fn disturbed(&mut self, asked: CallRequest) {
        let limit = *self.dice.pick(&LIMITS).unwrap_or(&20);
        let mut open = self.open(asked, Duration::from_secs(limit));
        match self.dice.roll(8) {
            0 => self.hurry(&mut open).await,
            1 => self.plan_fault(),
            2 => {
                sleep(self.a_moment()).await;
                return self.give_up(open).await;
            }
            _ => {}
        }
        loop {
            if self.wait(&mut open).await.is_some() || self.is_over {
                self.watched.log.plan().fault = None;
                return;
            }
            match self.dice.roll(12) {
                0..6 => self.keep_promise(&mut open),
                6 | 7 => {
                    let asked = open.asked.clone();
                    self.disturb(&asked);
                }
                8 => self.repeat(&open).await,
                9 => match self.cross(&mut open).await {
                    Some(opposite) => open = opposite,
                    None if self.is_over => return,
                    None => {}
                },
                10 => return self.give_up(open).await,
                _ => {}
            }
        }
    }

    fn a_moment(&mut self) -> Duration {
        Duration::from_millis(u64::try_from(self.dice.roll(60)).unwrap_or(0))
    }

    /// Moves the environment while the call is in flight, so that the call's observation is
    /// uncertain.
    async fn hurry(&mut self, open: &mut Open) {
        sleep(self.a_moment()).await;
        self.catch_up(open);
        if !open.task.is_finished() {
            let asked = open.asked.clone();
            self.disturb(&asked);
            self.watched.log.record(CallEvent::Moved);
        }
    }

    fn plan_fault(&mut self) {
        let fault = if self.dice.one_in(2) {
            Fault::Lost
        } else {
            Fault::AnswerLost
        };
        let after = self.dice.roll(6);
        self.watched.log.plan().fault = Some((after, fault));
    }

    /// Makes the caller give up: ongoing work ends, and no more work is started.
    async fn give_up(&mut self, mut open: Open) {
        self.ran.crossed += 1;
        self.catch_up(&mut open);
        let had_ended = open.task.is_finished();
        open.task.abort();
        self.log_line(|| "  given up".to_owned());
        // Events of the same instant count as earlier.
        for _ in 0..16 {
            yield_now().await;
        }
        self.catch_up(&mut open);
        sleep(Duration::from_secs(2)).await;
        let more = self.watched.log.len();
        self.catch_up(&mut open);
        if more > 1 && !had_ended {
            self.find(format!(
                "not given up: {more} effects after its caller went away"
            ));
        }
    }

    /// Repeats the call. The driver reports that the call is already in progress.
    async fn repeat(&mut self, open: &Open) {
        self.ran.crossed += 1;
        let mut again = self.open(open.asked.clone(), Duration::from_secs(20));
        let answer = timeout(Duration::from_millis(1), &mut again.task).await;
        let aborted = matches!(&answer, Ok(Ok(Err((Code::Aborted, _)))));
        let broken = open.asked.is_broken;
        if !aborted && !broken {
            again.task.abort();
            self.find(format!("not excluded: the same call is {answer:?}"));
        }
    }

    /// The opposite call ends this one's waiting, and has its turn.
    async fn cross(&mut self, open: &mut Open) -> Option<Open> {
        let rpc = opposite(open.asked.rpc)?;
        let declared = self.ir().calls.iter().any(|call| call.rpc == rpc);
        if !declared || open.asked.is_broken {
            return None;
        }
        self.ran.crossed += 1;
        let asked = CallRequest {
            rpc,
            ..open.asked.clone()
        };
        let crossing = self.open(asked, Duration::from_secs(60));
        let answer = timeout(Duration::from_millis(1), &mut open.task).await;
        if !matches!(&answer, Ok(Ok(Err((Code::Aborted, _))))) {
            open.task.abort();
            crossing.task.abort();
            self.find(format!("not crossed: the call that waited is {answer:?}"));
            return None;
        }
        Some(crossing)
    }

    /// Keeps one of the promises that are open now, or heals the environment.
    pub(super) fn keep_promise(&mut self, open: &mut Open) {
        let asked = open.asked.clone();
        match self.keep_one(&asked) {
            Some(1) => {}
            Some(_) => self.watched.log.record(CallEvent::Moved),
            None => {
                self.watched.log.record(CallEvent::Moved);
                self.heal();
            }
        }
    }

    /// Keeps a promise that a call observes now. Returns the number of changes, if anything is
    /// promised.
    pub(super) fn keep_one(&mut self, asked: &CallRequest) -> Option<usize> {
        let now = self.watched.scene.now();
        let look = self.observe_call(asked, &now, &Vec::new())?;
        let ways = self.meaning.promised(&look.world);
        let way = self.dice.pick(&ways).cloned()?;
        self.ran.moves += 1;
        self.log_line(|| format!("  kept: {way:?}"));
        for (fact, value) in &way {
            self.force(asked, fact, value);
        }
        Some(way.len())
    }

    /// Does one thing by chance that is possible.
    pub(super) fn disturb(&mut self, asked: &CallRequest) {
        for _ in 0..20 {
            let which = self.dice.roll(12);
            let done = match which {
                0..4 => self.answer_anew(asked),
                4 | 5 => self.make_one(asked),
                6 => self.remove_one(),
                7 => self.drift(),
                8 => self.silence(),
                9 | 10 => self.refuse(),
                _ => self.loosen(),
            };
            if done {
                self.ran.moves += 1;
                self.log_line(|| format!("  outside: {which}"));
                return;
            }
        }
    }

    fn answer_anew(&mut self, asked: &CallRequest) -> bool {
        let facts: Vec<(String, Vec<String>)> = self
            .meaning
            .answers()
            .into_iter()
            .filter(|(name, _)| {
                let mut vars = self.ir().vars.iter();
                vars.any(|v| v.name == name && v.origin == Origin::Fact && v.free.is_none())
            })
            .collect();
        let Some((fact, answers)) = self.dice.pick(&facts).cloned() else {
            return false;
        };
        let answer = self.dice.pick(&answers).cloned().unwrap_or_default();
        self.force(asked, &fact, &answer)
    }

    fn objects(&self) -> Vec<usize> {
        let ir = self.ir();
        (0..ir.inputs.len())
            .filter(|input| is_object(ir, *input))
            .collect()
    }

    fn make_one(&mut self, asked: &CallRequest) -> bool {
        let inputs = self.objects();
        let input = self.dice.pick(&inputs).copied();
        input.is_some_and(|input| self.make(asked, input))
    }

    /// Makes an object that a call finds.
    pub(super) fn make(&mut self, asked: &CallRequest, input: usize) -> bool {
        if !is_object(self.ir(), input) {
            return false;
        }
        // Other controllers seldom create objects that are ours.
        if self.ir().inputs[input].mode == Mode::Owned && !self.dice.one_in(4) {
            return false;
        }
        let name = match &self.machine.inner.declared.lookups[input] {
            Lookup::Name(path) if path.input.is_none() => asked.volume.clone(),
            Lookup::Ref(_) => author::reference(&self.machine.inner.declared.inputs[input]),
            _ => return false,
        };
        let made = self.dice.roll(1000);
        self.watched.scene.objects.create(input, &name, &spec(made))
    }

    fn some_object(&mut self) -> Option<(usize, String)> {
        let kinds = self.watched.scene.kinds;
        let all = self.watched.scene.objects.all(kinds);
        let named = all.iter().enumerate().flat_map(|(kind, objects)| {
            let names = objects.keys();
            names.map(move |name| (kind, name.clone()))
        });
        let named: Vec<(usize, String)> = named.collect();
        self.dice.pick(&named).cloned()
    }

    fn remove_one(&mut self) -> bool {
        let Some((kind, name)) = self.some_object() else {
            return false;
        };
        let held = self.ir().inputs[kind].mode == Mode::Owned && self.dice.one_in(2);
        self.watched.scene.objects.delete(kind, &name, held)
    }

    /// Changes an object that we wrote.
    fn drift(&mut self) -> bool {
        let Some((kind, name)) = self.some_object() else {
            return false;
        };
        let other = self.dice.roll(1000);
        let is_ours = matches!(self.ir().inputs[kind].mode, Mode::Owned | Mode::Part);
        is_ours
            && self.watched.scene.objects.edit(kind, &name, |object| {
                object["spec"]["built"]["of"] = json!(format!("drift {other}"));
            })
    }

    fn silence(&mut self) -> bool {
        let asked = (0..self.ir().inputs.len()).filter(|input| self.is_asked(*input));
        let asked: Vec<usize> = asked.collect();
        let Some(input) = self.dice.pick(&asked).copied() else {
            return false;
        };
        let name = self.machine.inner.declared.inputs[input].clone();
        let mut outside = self.watched.scene.outside.state();
        let down = !outside.is_down(&name);
        outside.silence(&name, down)
    }

    /// Writes of an effect are refused from now on, or no longer.
    fn refuse(&mut self) -> bool {
        let effects = self.ir().effects;
        let Some(effect) = effects.get(self.dice.roll(effects.len())) else {
            return false;
        };
        if self.is_asked(effect.target) {
            let mut outside = self.watched.scene.outside.state();
            if !outside.refused.remove(effect.name) {
                outside.refused.insert(effect.name.to_owned());
            }
        } else {
            let mut plan = self.watched.log.plan();
            if !plan.refused.remove(&effect.target) {
                plan.refused.insert(effect.target);
            }
        }
        true
    }

    /// Lets something go that lingers.
    pub(super) fn loosen(&mut self) -> bool {
        let mut done = false;
        let objects = self.watched.scene.objects.clone();
        for (kind, all) in objects.all(self.watched.scene.kinds).iter().enumerate() {
            for name in all.keys() {
                done |= objects.loosen(kind, name);
            }
        }
        done
    }

    /// Makes a fact have a value in a call, if the environment can. Returns true if it changed
    /// anything.
    fn force(&mut self, asked: &CallRequest, fact: &str, value: &str) -> bool {
        let inputs = &self.machine.inner.declared.inputs;
        if let Some(input) = inputs.iter().position(|input| input == fact) {
            return match value {
                "Absent" => self.loosen(),
                "Present" | "Stale" => self.make(asked, input),
                _ => false,
            };
        }
        let mut vars = self.ir().vars.iter();
        let var = vars.find(|v| v.name == fact && v.origin == Origin::Fact);
        let Some(var) = var else {
            return false;
        };
        let words = &var.values[..usize::from(var.answers)];
        let Some(wanted) = words.iter().position(|v| *v == value) else {
            return false;
        };
        let snapshot = self.watched.scene.now();
        let this: Document = asked.document().into();
        let shown = RequestView::new(&snapshot, &self.machine.inner, this.clone());
        let call = format!("{:?}", asked.rpc);
        let Some(from) = given_in_call(self.meaning, &shown, &call, fact) else {
            return false;
        };
        let held = var.free.is_some();
        let is = author::answer(fact, held, words, &this, &from);
        let levers = author::levers(held, &this, &from);
        let levers: Vec<Document> = levers
            .into_iter()
            .filter(|lever| lever.get("request").is_none())
            .collect();
        let Some(lever) = self.dice.pick(&levers).cloned() else {
            return false;
        };
        if is == wanted {
            return false;
        }
        let answers = words.len();
        let more = u64::try_from((wanted + answers - is) % answers).unwrap_or(0);
        self.pull(&lever, fact, author::points(&lever, fact) + more)
    }

    /// Sets the answer of a document to a question.
    fn pull(&self, lever: &Document, fact: &str, points: u64) -> bool {
        if let Some(place) = lever.get("outside").and_then(|place| place.as_array()) {
            let part = |at: usize| place[at].as_str().unwrap_or_default();
            let mut outside = self.watched.scene.outside.state();
            outside.set((part(0), part(1)), fact, points);
            return true;
        }
        let kind = lever.get("kind").and_then(|kind| kind.as_str());
        let kind = kind.and_then(|kind| kind.strip_prefix("Wide")?.parse().ok());
        let Some(kind) = kind else {
            return false;
        };
        let name = crate::cluster::name(lever);
        self.watched.scene.objects.edit(kind, name, |object| {
            object["spec"]["answers"][fact] = json!(points);
        })
    }
}

fn opposite(rpc: Rpc) -> Option<Rpc> {
    Some(match rpc {
        Rpc::CreateVolume => Rpc::DeleteVolume,
        Rpc::DeleteVolume => Rpc::CreateVolume,
        Rpc::NodeStageVolume => Rpc::NodeUnstageVolume,
        Rpc::NodeUnstageVolume => Rpc::NodeStageVolume,
        Rpc::NodePublishVolume => Rpc::NodeUnpublishVolume,
        Rpc::NodeUnpublishVolume => Rpc::NodePublishVolume,
        Rpc::ValidateVolumeCapabilities => return None,
    })
}
