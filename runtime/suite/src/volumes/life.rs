//! A volume's life from its making to its end, as external-provisioner and kubelet lead it: every call is repeated until it is OK.

use std::collections::BTreeSet;
use std::sync::PoisonError;
use std::time::Duration;

use tokio::time::sleep;

use super::coverage::RpcCoverage;
use super::deed::ManualOperation;
use super::life_outcome::LifeOutcome;
use super::process::CallOutcome;
use super::schedule::{Extra, Schedule};
use super::schedule_env::ScheduleEnv;
use super::snapshot::key;
use super::step::Step;
use super::test_env::{TestEnv, paused};
use crate::faults::Sent;
use lifecycle_runtime::lifecycle::CreatedVolume;
use lifecycle_runtime::machine::ir::{Call, Code};
use lifecycle_simulator::world::World;

/// Number of tries after which a call that is still refused counts as never ending.
const TRIES: u32 = 16;
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Time after which all ongoing work has ended.
const SETTLE: Duration = Duration::from_secs(100);

/// A life under way.
struct Life<'a> {
    env: &'a ScheduleEnv<'a>,
    schedule: &'a Schedule,
    coverage: &'a mut RpcCoverage,
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
/// The environment cannot be set up, or cannot be read.
pub(super) fn play(
    base: &TestEnv<'_>,
    schedule: &Schedule,
    coverage: &mut RpcCoverage,
) -> Result<LifeOutcome, String> {
    let runtime = paused()?;
    let ended = runtime.block_on(async {
        let env = ScheduleEnv::new(base, schedule)?;
        let around = base.fixture.around.as_ref();
        let around = around.map(|around| tokio::spawn(around(env.admin.clone())));
        let mut life = Life {
            env: &env,
            schedule,
            coverage,
            made: CreatedVolume::new(base.fixture.create.name.clone()),
            published: vec![false; base.fixture.pods.len()],
            marks: Vec::new(),
            wrong: Vec::new(),
        };
        let ended = life.run().await;
        if let Some(around) = around {
            around.abort();
        }
        let mut ended = ended?;
        let (wrong, seen) = env.beside.end().await;
        ended.wrong.extend(wrong);
        coverage.add_companions(seen);
        Ok(ended)
    });
    // A file that is still being written is waited for.
    runtime.shutdown_timeout(Duration::from_secs(10));
    ended
}

impl Life<'_> {
    async fn run(&mut self) -> Result<LifeOutcome, String> {
        let (up, down) = (self.env.base.up(), self.env.base.down());
        let mut ended = LifeOutcome {
            before: self.env.snapshot().await?,
            ..LifeOutcome::default()
        };
        self.extra_calls(0, &[]).await?;
        for (number, step) in up.iter().enumerate() {
            self.step(*step).await?;
            self.extra_calls(number + 1, &up[..=number]).await?;
        }
        sleep(SETTLE).await;
        self.settle(true).await;
        ended.up = self.env.snapshot().await?;
        ended.deeds = self.env.beside.deeds(&self.env.base.fixture.stays);
        let before = self.writes();
        for step in &up {
            self.insist(*step).await?;
        }
        ended.writes_at_rest = self.writes() - before;
        for (number, step) in down.iter().enumerate() {
            self.step(*step).await?;
            self.extra_calls(up.len() + number + 1, &down[..=number])
                .await?;
        }
        sleep(SETTLE).await;
        self.settle(true).await;
        ended.down = self.env.snapshot().await?;
        self.env.strike_out(&self.made).await?;
        self.env.clear().await?;
        let garbage = World::empty().garbage(true).run(self.env.admin.clone());
        let over = tokio::time::timeout(SETTLE, garbage).await;
        debug_assert!(over.is_err(), "a world runs until it is dropped");
        ended.gone = self.env.snapshot().await?;
        let sent = self.env.faults.sent();
        ended.writes = u32::try_from(self.env.faults.writes()).unwrap_or(u32::MAX);
        ended.first_requests = self.first_requests(&sent);
        if let Some(Extra::Deed(_, ManualOperation::Away(object))) = &self.schedule.extra {
            ended.restored.push(key(object));
        }
        ended.writes_beside = self.env.beside.writes();
        ended.is_over = self.env.faults.left().0.is_empty() && self.env.beside.is_over();
        ended.wrong = std::mem::take(&mut self.wrong);
        ended.wrong.extend(self.env.processes.beyond_rights());
        let effects = self.env.effects.lock();
        let effects = effects.unwrap_or_else(PoisonError::into_inner);
        self.coverage.effects(&effects, &sent);
        Ok(ended)
    }

    /// How much the driver and those beside it have written.
    fn writes(&self) -> usize {
        let beside = self.env.beside.writes();
        self.env.faults.writes() + beside.iter().sum::<usize>()
    }

    /// Waits until the lifecycles beside the driver have settled, and looks for promises that they
    /// should have kept.
    async fn settle(&mut self, is_end: bool) {
        if !self.env.beside.settle().await {
            self.wrong
                .push("the lifecycles beside the driver never settle".to_owned());
        }
        for step in self.env.base.up() {
            let request = self.env.base.request(step, &self.made);
            let Some(seen) = self.env.processes.observe(request).await else {
                continue;
            };
            let open = self.env.beside.open_claims(&seen, is_end);
            self.wrong.extend(open);
            let (world, beside) = (seen.observation.world.clone(), self.env.beside.worlds());
            self.coverage
                .record_rest(seen.machine.ir().name, world, beside);
        }
    }

    fn first_requests(&self, sent: &[Sent]) -> Vec<u32> {
        let (mut known, mut first, mut from) = (BTreeSet::new(), Vec::new(), 0);
        for (step, to) in &self.marks {
            for one in &sent[from..*to] {
                if known.insert((*step, one.what.as_str())) {
                    first.push(one.request);
                }
            }
            from = *to;
        }
        first
    }

    async fn step(&mut self, step: Step) -> Result<(), String> {
        self.insist(step).await?;
        match &self.schedule.extra {
            Some(Extra::Twice) => self.insist(step).await,
            Some(Extra::Then(..) | Extra::AtOnce(..) | Extra::Deed(..)) | None => Ok(()),
        }
    }

    /// Performs the extra operation of the schedule after so many steps. Then it repeats the steps
    /// whose result must hold.
    async fn extra_calls(&mut self, steps: usize, again: &[Step]) -> Result<(), String> {
        match &self.schedule.extra {
            Some(Extra::Then(after, step)) if *after == steps => {
                let request = self.env.base.request(*step, &self.made);
                let limit = self.schedule.limit(true);
                let classified = self.env.processes.classify(request.clone()).await;
                self.coverage.classified(classified);
                let outcome = self.env.processes.call(request, limit).await;
                self.record_outcome(*step, outcome);
            }
            Some(Extra::AtOnce(after, [one, other])) if *after == steps => {
                let requests = [*one, *other].map(|s| self.env.base.request(s, &self.made));
                let [first, second] = requests;
                let limit = self.schedule.limit(true);
                let all = &self.env.processes;
                let both = tokio::join!(all.call(first, limit), all.call(second, limit));
                self.record_outcome(*one, both.0);
                self.record_outcome(*other, both.1);
            }
            Some(Extra::Deed(after, deed)) if *after == steps => {
                let deed = deed.clone();
                self.perform_operation(&deed).await?;
            }
            Some(_) | None => return Ok(()),
        }
        for step in again {
            self.insist(*step).await?;
        }
        Ok(())
    }

    /// Performs an operation by hand, and restores the removed object afterwards. Once everything
    /// has settled in between, no promise that should have been kept may be open.
    async fn perform_operation(&mut self, deed: &ManualOperation) -> Result<(), String> {
        deed.perform(&self.env.admin).await?;
        self.settle(false).await;
        if deed.undone(&self.env.admin).await? {
            self.settle(false).await;
        }
        Ok(())
    }

    async fn insist(&mut self, step: Step) -> Result<(), String> {
        let mut pause = FIRST_PAUSE;
        let mut last = "its process was gone".to_owned();
        // A failure that is already known does not need the full number of tries.
        let tries = if self.wrong.is_empty() { TRIES } else { 2 };
        for number in 0..tries {
            let request = self.env.base.request(step, &self.made);
            let limit = self.schedule.limit(number == 0);
            let outcome = self.env.processes.call(request, limit).await;
            if let CallOutcome::Refused(code, message) = &outcome {
                last = format!("{code:?} {message}");
            }
            if self.record_outcome(step, outcome) {
                self.marks.push((step, self.env.faults.sent().len()));
                if step == Step::Create {
                    self.env.write_down(&self.made).await?;
                }
                return Ok(());
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        self.wrong.push(format!("{step:?} never ends well: {last}"));
        Ok(())
    }

    /// Records how a call ended. Returns true if it ended with OK.
    fn record_outcome(&mut self, step: Step, outcome: CallOutcome) -> bool {
        let request = self.env.base.request(step, &self.made);
        let rpc = request.rpc();
        match outcome {
            CallOutcome::Done(response) => {
                self.coverage.record_answer(rpc, None);
                self.coverage.observed(response.ir, &response.observation);
                match (step, response.created) {
                    (Step::Create, Some(made)) => self.made = made,
                    (Step::Publish(pod), _) => self.published[pod] = true,
                    (Step::Unpublish(pod), _) => self.published[pod] = false,
                    (_, _) => {}
                }
                true
            }
            CallOutcome::Refused(code, message) => {
                self.coverage.record_answer(rpc, Some(code));
                let call = self.env.processes.declared(rpc);
                if call.is_some_and(|call| !may_answer(call, code)) {
                    let finding =
                        format!("{rpc:?} answers {code:?}, which it does not declare: {message}");
                    self.wrong.push(finding);
                }
                if message.trim().is_empty() {
                    self.wrong
                        .push(format!("{rpc:?} answers {code:?} without a message"));
                }
                self.after_refusal(step, code);
                false
            }
            CallOutcome::Crashed => false,
        }
    }

    /// Checks that an unpublished target does not block kubelet, which removes the folder of a
    /// target after a final code.
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
        let target = self.env.base.target(pod);
        let is_empty = |mut entries: std::fs::ReadDir| entries.next().is_none();
        let is_free = !target.exists() || std::fs::read_dir(&target).is_ok_and(is_empty);
        let is_alone = self.schedule.extra.is_none();
        if !goes_on && is_alone && !self.published[pod] && !is_free {
            let finding = format!("after {code:?} something is left at the target of Pod {pod}");
            self.wrong.push(finding);
        }
    }
}

/// Returns true if a valid call may be answered with this code. The call either declares the code,
/// or the code is one for every call that cannot continue now.
fn may_answer(call: &Call, code: Code) -> bool {
    let by_all = [
        Code::Aborted,
        Code::Unavailable,
        Code::Cancelled,
        Code::DeadlineExceeded,
    ];
    by_all.contains(&code)
        || call.preconditions.iter().any(|one| one.code == code)
        || call.refusals.iter().any(|refusal| refusal.code == code)
        || call.within.is_some_and(|within| within.code == code)
}
