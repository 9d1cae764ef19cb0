//! Checks each effect and each answer of a call against its meaning.

use std::time::Duration;

use lifecycle_oracle::meaning::Named;
use lifecycle_oracle::meaning::Step;
use lifecycle_oracle::meaning::calls::Doing;
use lifecycle_runtime::machine::ir::Code;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::{Instant, sleep};

use super::Run;
use crate::volume::log::{CallEvent, Entry, Snapshot, WriteOutcome};
use crate::volume::printed::spelled;
use crate::volume::reality::{CallObservation, Refusals, RequestView};
use crate::volume::request::CallRequest;

/// Idle time after which a call counts as waiting.
const WAITS: Duration = Duration::from_millis(6_130);
/// How exactly a call gives up.
const ABOUT: Duration = Duration::from_millis(1500);
/// Part of a caller's time that is left for the answer.
const MARGIN: Duration = Duration::from_secs(5);

type Answered = Result<(), (Code, String)>;

/// A call under way.
pub(super) struct Open {
    pub(super) asked: CallRequest,
    began: Instant,
    limit: Duration,
    pub(super) task: JoinHandle<Answered>,
    /// Writes that were refused while it went on.
    refused: Refusals,
    /// True if the environment moved and the call's observation is uncertain.
    is_stale: bool,
    /// True if its last operation was in vain.
    has_failed: bool,
    /// Something was tried.
    has_run: bool,
}

impl Open {
    pub(super) fn new(
        asked: CallRequest,
        limit: Duration,
        task: JoinHandle<Answered>,
        began: Instant,
    ) -> Self {
        Self {
            asked,
            began,
            limit,
            task,
            refused: Refusals::new(),
            is_stale: false,
            has_failed: false,
            has_run: false,
        }
    }
}

impl Run<'_> {
    /// Returns the current observation of a call; `None` if something was found.
    pub(super) fn observe_call(
        &mut self,
        asked: &CallRequest,
        snapshot: &Snapshot,
        refused: &Refusals,
    ) -> Option<CallObservation> {
        let request = asked.document().into();
        let shown = RequestView::new(snapshot, &self.machine.inner, request);
        match shown.observe(self.meaning, asked.rpc, refused) {
            Ok(look) => Some(look),
            Err(circle) => {
                self.find(format!("circle: `{circle}` depends on itself"));
                None
            }
        }
    }

    /// Waits until the call ends, which is then judged, or until it waits for something, which is so, too.
    pub(super) async fn wait(&mut self, open: &mut Open) -> Option<String> {
        loop {
            let ended = tokio::select! {
                biased;
                ended = &mut open.task => Some(ended),
                () = sleep(WAITS) => None,
            };
            let is_quiet = self.watched.log.len() == 0;
            self.catch_up(open);
            if let Some(ended) = ended {
                return Some(self.close(open, ended));
            }
            if self.is_over {
                open.task.abort();
                return Some("nothing".to_owned());
            }
            if is_quiet {
                self.settled(open);
                return None;
            }
        }
    }

    /// Judges the operations since the last call.
    pub(super) fn catch_up(&mut self, open: &mut Open) {
        for entry in self.watched.log.take() {
            if self.is_over {
                return;
            }
            self.entry(open, entry);
        }
    }

    fn entry(&mut self, open: &mut Open, entry: Entry) {
        let at = entry.at - open.began;
        match entry.what {
            CallEvent::Moved => open.is_stale = true,
            CallEvent::Blind => {
                self.log_line(|| format!("  {at:?} blind"));
                open.has_failed = true;
            }
            CallEvent::Ran {
                effect,
                before,
                after,
                how,
            } => {
                self.log_line(|| format!("  {at:?} {effect}: {how:?}"));
                open.has_run = true;
                self.ran(open, &effect, (&before, &after), how);
            }
        }
    }

    fn ran(
        &mut self,
        open: &mut Open,
        effect: &str,
        worlds: (&Snapshot, &Snapshot),
        how: WriteOutcome,
    ) {
        self.ran.steps += 1;
        let call = format!("{:?}", open.asked.rpc);
        if !self.meaning.steps(&call).iter().any(|step| step == effect) {
            self.find(format!(
                "another effect: {call} ran `{effect}`, which it may not"
            ));
            return;
        }
        let Some(before) = self.observe_call(&open.asked, worlds.0, &open.refused) else {
            return;
        };
        let doing = self.meaning.doing(&call, &before.world);
        let right = doing == Some(Doing::Run(effect.to_owned()));
        // An object that was considered absent is created only if it is absent.
        let tolerated = open.is_stale || before.is_blind || how == WriteOutcome::Conflict;
        if !right && !tolerated {
            self.find(format!(
                "another move: {call} ran `{effect}`, and the meaning is {doing:?} in {:?}",
                before.world
            ));
            return;
        }
        open.has_failed = how == WriteOutcome::Failed;
        if how == WriteOutcome::Refused {
            let number = self.ir().effects.iter().position(|e| e.name == effect);
            let shown =
                RequestView::new(worlds.0, &self.machine.inner, open.asked.document().into());
            let write = number.and_then(|number| shown.write(self.meaning, &call, number));
            open.refused
                .extend(write.map(|write| (effect.to_owned(), write)));
        }
        // An earlier observation may still lead to a write.
        if right && !open.is_stale && matches!(how, WriteOutcome::Done | WriteOutcome::Refused) {
            self.led(open, effect, &before.world, worlds.1);
        }
    }

    /// Checks that the world after an effect is one to which the effect may lead.
    fn led(&mut self, open: &Open, effect: &str, before: &Named, after: &Snapshot) {
        let Some(after) = self.observe_call(&open.asked, after, &open.refused) else {
            return;
        };
        let step = Step::Run(effect.to_owned());
        // A change to a write makes it a different write, which was not refused.
        let still = |(name, value): (&String, &String)| {
            let was = name.starts_with('?') && before.get(name).is_some_and(|was| was == "true");
            let value = if was { "true" } else { value };
            (name.clone(), value.to_owned())
        };
        let still: Named = after.world.iter().map(still).collect();
        let leads = |end| self.meaning.leads(before, &step, end);
        if leads(&after.world) || leads(&still) {
            return;
        }
        let changed = after
            .world
            .iter()
            .filter(|(name, value)| before.get(*name) != Some(*value));
        let changed: Vec<String> = changed
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        self.find(format!(
            "another outcome: `{effect}` in {before:?} led to {changed:?}"
        ));
    }

    /// A call that does nothing for a while waits, and has seen everything.
    fn settled(&mut self, open: &mut Open) {
        let now = self.watched.scene.now();
        let Some(look) = self.observe_call(&open.asked, &now, &open.refused) else {
            return;
        };
        open.is_stale = false;
        let call = format!("{:?}", open.asked.rpc);
        let doing = self.meaning.doing(&call, &look.world);
        self.log_line(|| format!("  settled: {doing:?} in {:?}", look.world));
        if open.has_failed || look.is_blind {
            return;
        }
        if doing != Some(Doing::Wait) {
            self.find(format!(
                "nothing done: {call} waits, and the meaning is {doing:?} in {:?}",
                look.world
            ));
        }
    }

    /// Judges an answer; the code.
    fn close(&mut self, open: &Open, ended: Result<Answered, JoinError>) -> String {
        let code = match ended {
            Ok(Ok(())) => "OK".to_owned(),
            Ok(Err((code, why))) => {
                self.log_line(|| format!("  {code:?}: {why}"));
                if why.trim().is_empty() {
                    self.find("no sentence: a call failed and nobody said why");
                }
                spelled(code)
            }
            Err(panic) => {
                self.find(format!("panic: {panic}"));
                return "nothing".to_owned();
            }
        };
        self.log_line(|| format!("  {code} after {:?}", open.began.elapsed()));
        self.ran.calls += 1;
        *self.ran.answers.entry(code.clone()).or_default() += 1;
        if !self.is_over {
            self.check_answer(open, &code);
        }
        code
    }

    fn check_answer(&mut self, open: &Open, code: &str) {
        let call = format!("{:?}", open.asked.rpc);
        if open.asked.is_broken {
            if code != "INVALID_ARGUMENT" || open.has_run {
                self.find(format!("another code: {call} of nothing is {code}"));
            }
            return;
        }
        let codes = self.meaning.codes(&call);
        let possible = |code: &str| {
            ["OK", "UNAVAILABLE"].contains(&code) || codes.iter().any(|one| one == code)
        };
        if open.is_stale {
            if !possible(code) {
                self.find(format!("another code: {call} is never {code}"));
            }
            return;
        }
        let now = self.watched.scene.now();
        let Some(look) = self.observe_call(&open.asked, &now, &open.refused) else {
            return;
        };
        let doing = self.meaning.doing(&call, &look.world);
        let gives_up = self.meaning.gives_up(&call);
        let mut allowed = Vec::new();
        // The call could not observe, or the awaited change did not happen.
        let in_vain = look.is_blind || open.has_failed || doing == Some(Doing::Wait);
        if in_vain && (gives_up.is_none() || self.is_late(open)) {
            allowed.push(gives_up.as_deref().unwrap_or("UNAVAILABLE"));
        }
        if !look.is_blind {
            allowed.extend(ending(doing.as_ref()));
        }
        if !allowed.contains(&code) {
            let after = open.began.elapsed();
            self.find(format!(
                "another code: {call} is {code} after {after:?} and should be {allowed:?}, for the meaning is {doing:?} in {:?}",
                look.world
            ));
        }
    }

    /// Returns true if a call ends when it gives up waiting.
    fn is_late(&self, open: &Open) -> bool {
        let Some(within) = self.declared(open.asked.rpc).within else {
            return false;
        };
        let own = Duration::from_millis(within.time);
        let until = own.min(open.limit.saturating_sub(MARGIN));
        open.began.elapsed().abs_diff(until) <= ABOUT
    }
}

/// The code of a call that ends there.
fn ending(doing: Option<&Doing>) -> Option<&str> {
    match doing? {
        Doing::Done => Some("OK"),
        Doing::Precondition(code) | Doing::Refusal(code) => Some(code),
        Doing::Run(_) | Doing::Wait => None,
    }
}
