//! A volume's life from its making to its end, as external-provisioner and kubelet lead it: every call is repeated until it is OK.

use std::collections::BTreeSet;
use std::sync::PoisonError;
use std::time::Duration;

use tokio::time::sleep;

use super::process::Outcome;
use super::schedule::{Also, Schedule};
use super::seen::Seen;
use super::site::{Ground, Site, Step, paused};
use super::snapshot::{Objects, Tree};
use crate::lifecycle::CreatedVolume;
use crate::machine::ir::{Call, Code};
use crate::testing::faults::Sent;
use crate::testing::world::World;

/// A call that is still refused after so many tries will not end.
const TRIES: u32 = 16;
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// By then whatever still goes on has ended.
const SETTLE: Duration = Duration::from_secs(100);

/// What was there at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) objects: Objects,
    pub(super) tree: Tree,
}

/// How a life ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Ended {
    pub(super) before: State,
    /// All Pods have the volume.
    pub(super) up: State,
    /// They have given it back.
    pub(super) down: State,
    /// Claim, Pods and PersistentVolume are gone, and what they owned.
    pub(super) gone: State,
    /// How many writes it took to do what was done already.
    pub(super) at_rest: usize,
    pub(super) writes: u32,
    /// One request of each sort in each step.
    pub(super) awaits: Vec<u32>,
    /// The fault came to pass.
    pub(super) is_over: bool,
    /// What went wrong on the way.
    pub(super) wrong: Vec<String>,
}

struct Story<'a> {
    site: &'a Site<'a>,
    schedule: &'a Schedule,
    seen: &'a mut Seen,
    made: CreatedVolume,
    /// The Pods at which the volume is published.
    published: Vec<bool>,
    /// Each step, and how much was sent by its end.
    marks: Vec<(Step, usize)>,
    wrong: Vec<String>,
}

/// Plays one schedule on paused time.
///
/// # Errors
/// The ground is no good.
pub(super) fn play(
    ground: &Ground<'_>,
    schedule: &Schedule,
    seen: &mut Seen,
) -> Result<Ended, String> {
    let runtime = paused()?;
    let ended = runtime.block_on(async {
        let site = ground.site(schedule.plan.clone())?;
        let around = ground.fixture.around.as_ref();
        let around = around.map(|around| tokio::spawn(around(site.admin.clone())));
        let mut story = Story {
            site: &site,
            schedule,
            seen,
            made: CreatedVolume::new(ground.fixture.create.name.clone()),
            published: vec![false; ground.fixture.pods.len()],
            marks: Vec::new(),
            wrong: Vec::new(),
        };
        let ended = story.run().await;
        if let Some(around) = around {
            around.abort();
        }
        ended
    });
    // A file that is still being written is waited for.
    runtime.shutdown_timeout(Duration::from_secs(10));
    ended
}

impl Story<'_> {
    async fn run(&mut self) -> Result<Ended, String> {
        let (up, down) = (self.site.ground.up(), self.site.ground.down());
        let mut ended = Ended {
            before: self.state().await?,
            ..Ended::default()
        };
        self.besides(0, &[]).await?;
        for (number, step) in up.iter().enumerate() {
            self.step(*step).await?;
            self.besides(number + 1, &up[..=number]).await?;
        }
        sleep(SETTLE).await;
        ended.up = self.state().await?;
        let before = self.site.faults.writes();
        for step in &up {
            self.insist(*step).await?;
        }
        ended.at_rest = self.site.faults.writes() - before;
        for (number, step) in down.iter().enumerate() {
            self.step(*step).await?;
            self.besides(up.len() + number + 1, &down[..=number])
                .await?;
        }
        sleep(SETTLE).await;
        ended.down = self.state().await?;
        self.site.strike_out(&self.made).await?;
        self.site.clear().await?;
        let garbage = World::empty().garbage(true).run(self.site.admin.clone());
        let over = tokio::time::timeout(SETTLE, garbage).await;
        debug_assert!(over.is_err(), "a world runs until it is dropped");
        ended.gone = self.state().await?;
        let sent = self.site.faults.sent();
        ended.writes = u32::try_from(self.site.faults.writes()).unwrap_or(u32::MAX);
        ended.awaits = self.awaits(&sent);
        ended.is_over = self.site.faults.left().0.is_empty();
        ended.wrong = std::mem::take(&mut self.wrong);
        let done = self
            .site
            .done
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        self.seen.effects(&done, &sent);
        Ok(ended)
    }

    fn awaits(&self, sent: &[Sent]) -> Vec<u32> {
        let (mut known, mut awaits, mut from) = (BTreeSet::new(), Vec::new(), 0);
        for (step, to) in &self.marks {
            for one in &sent[from..*to] {
                if known.insert((*step, one.what.as_str())) {
                    awaits.push(one.request);
                }
            }
            from = *to;
        }
        awaits
    }

    async fn state(&self) -> Result<State, String> {
        Ok(State {
            objects: self.site.objects().await?,
            tree: self.site.tree()?,
        })
    }

    async fn step(&mut self, step: Step) -> Result<(), String> {
        self.insist(step).await?;
        match &self.schedule.also {
            Some(Also::Twice) => self.insist(step).await,
            Some(Also::Then(..) | Also::AtOnce(..)) | None => Ok(()),
        }
    }

    /// What the schedule does after so many steps; then what has to hold is brought about again.
    async fn besides(&mut self, steps: usize, again: &[Step]) -> Result<(), String> {
        match &self.schedule.also {
            Some(Also::Then(after, step)) if *after == steps => {
                let ask = self.site.ground.ask(*step, &self.made);
                let limit = self.schedule.limit(true);
                let stand = self.site.processes.stand(ask.clone()).await;
                self.seen.stand(stand);
                let outcome = self.site.processes.ask(ask, limit).await;
                self.hear(*step, outcome);
            }
            Some(Also::AtOnce(after, [one, other])) if *after == steps => {
                let asks = [*one, *other].map(|s| self.site.ground.ask(s, &self.made));
                let [first, second] = asks;
                let limit = self.schedule.limit(true);
                let all = &self.site.processes;
                let both = tokio::join!(all.ask(first, limit), all.ask(second, limit));
                self.hear(*one, both.0);
                self.hear(*other, both.1);
            }
            Some(_) | None => return Ok(()),
        }
        for step in again {
            self.insist(*step).await?;
        }
        Ok(())
    }

    async fn insist(&mut self, step: Step) -> Result<(), String> {
        let mut pause = FIRST_PAUSE;
        let mut last = "its process was gone".to_owned();
        for number in 0..TRIES {
            let ask = self.site.ground.ask(step, &self.made);
            let limit = self.schedule.limit(number == 0);
            let outcome = self.site.processes.ask(ask, limit).await;
            if let Outcome::Refused(code, said) = &outcome {
                last = format!("{code:?} {said}");
            }
            if self.hear(step, outcome) {
                self.marks.push((step, self.site.faults.sent().len()));
                if step == Step::Create {
                    self.site.write_down(&self.made).await?;
                }
                return Ok(());
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        self.wrong.push(format!("{step:?} never ends well: {last}"));
        Ok(())
    }

    /// Notes how a call ended; whether it was OK.
    fn hear(&mut self, step: Step, outcome: Outcome) -> bool {
        let ask = self.site.ground.ask(step, &self.made);
        let rpc = ask.rpc();
        match outcome {
            Outcome::Done(answered) => {
                self.seen.answered(rpc, None);
                self.seen.board(answered.ir, &answered.board);
                match (step, answered.created) {
                    (Step::Create, Some(made)) => self.made = made,
                    (Step::Publish(pod), _) => self.published[pod] = true,
                    (Step::Unpublish(pod), _) => self.published[pod] = false,
                    (_, _) => {}
                }
                true
            }
            Outcome::Refused(code, said) => {
                self.seen.answered(rpc, Some(code));
                let call = self.site.processes.declares(rpc);
                if call.is_some_and(|call| !may_answer(call, code)) {
                    let finding =
                        format!("{rpc:?} answers {code:?}, which it does not declare: {said}");
                    self.wrong.push(finding);
                }
                if said.trim().is_empty() {
                    self.wrong
                        .push(format!("{rpc:?} answers {code:?} and says nothing"));
                }
                self.after_refusal(step, code);
                false
            }
            Outcome::Crashed => false,
        }
    }

    /// kubelet removes the folder of a target after a final code: what is not published must not be in its way.
    fn after_refusal(&mut self, step: Step, code: Code) {
        let Step::Publish(pod) = step else {
            return;
        };
        let goes_on = matches!(
            code,
            Code::Cancelled
                | Code::DeadlineExceeded
                | Code::Unavailable
                | Code::ResourceExhausted
                | Code::Aborted
        );
        let target = self.site.ground.target(pod);
        let is_empty = |mut entries: std::fs::ReadDir| entries.next().is_none();
        let is_free = !target.exists() || std::fs::read_dir(&target).is_ok_and(is_empty);
        let is_alone = self.schedule.also.is_none();
        if !goes_on && is_alone && !self.published[pod] && !is_free {
            let finding = format!("after {code:?} something is left at the target of Pod {pod}");
            self.wrong.push(finding);
        }
    }
}

/// Whether a call that is right by itself may be answered so: as it declares, or as everybody may who cannot go on now.
fn may_answer(call: &Call, code: Code) -> bool {
    let by_all = [
        Code::Aborted,
        Code::Unavailable,
        Code::Cancelled,
        Code::DeadlineExceeded,
    ];
    by_all.contains(&code)
        || call.words.iter().any(|word| word.code == code)
        || call.refusals.iter().any(|refusal| refusal.code == code)
        || call.within.is_some_and(|within| within.code == code)
}
