//! Check that a write led to a declared outcome, as far as that is known: no other change may have
//! happened in between.

use tokio::time::Instant;

use super::ruled_out::RuledOut;
use crate::cluster::judged::{Awaited, Verdict, judged};
use crate::cluster::observe::Observed;
use crate::cluster::store::Name;
use crate::machine::backoff::Backoff;
use crate::machine::ir::{Effect, Lifecycle, Verb};

/// An effect that led where it must not.
struct StrayEffect {
    effect: usize,
    why: String,
    times: u32,
    until: Instant,
    /// Version of everything read at that time. A change of it permits another attempt.
    seen: u64,
}

/// Memory of the outcomes of one object's effects.
#[derive(Default)]
pub(crate) struct Outcomes {
    sent: Option<Awaited>,
    awaited: Option<Awaited>,
    astray: Option<StrayEffect>,
}

impl Outcomes {
    /// An effect leaves.
    pub(crate) fn leaves(&mut self, sent: Awaited) {
        self.awaited = None;
        self.sent = Some(sent);
    }

    /// The effect that left last ended well.
    pub(crate) fn arrived(&mut self, wrote: Option<(Name, Option<String>)>) {
        self.awaited = self.sent.take().map(|sent| Awaited { wrote, ..sent });
    }

    /// Until when an effect has to wait that led where it must not.
    pub(crate) fn until(&self) -> Option<Instant> {
        self.astray.as_ref().map(|astray| astray.until)
    }

    /// Evaluates the result of the last write. `read` fingerprints all objects read, except those
    /// that an effect changes.
    pub(crate) fn check_outcome(
        &mut self,
        ir: &Lifecycle,
        observed: &Observed,
        read: impl Fn(Option<&Effect>) -> u64,
        (now, random): (Instant, u64),
    ) -> Option<RuledOut> {
        if let Some(awaited) = self.awaited.take() {
            let besides = read(Some(&ir.effects[awaited.effect]));
            let before = self.astray.take_if(|a| a.effect == awaited.effect);
            self.astray = match judged(ir, &awaited, observed, besides) {
                Verdict::Open => before,
                Verdict::Declared => None,
                Verdict::Undeclared(why) => {
                    let times = 1 + before.map_or(0, |before| before.times);
                    Some(StrayEffect {
                        effect: awaited.effect,
                        why,
                        times,
                        until: now + Backoff::OBJECT.after(times, random),
                        seen: read(None),
                    })
                }
            };
        }
        let astray = self.astray.as_ref().filter(|astray| astray.until > now)?;
        // A provider's answer right after a call may predate it. The call is therefore repeated
        // once before the result counts.
        let counts = ir.effects[astray.effect].verb != Verb::Call || astray.times > 1;
        (counts && astray.seen == read(None)).then(|| RuledOut::Outcome(astray.why.clone()))
    }
}
