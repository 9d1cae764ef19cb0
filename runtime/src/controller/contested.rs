//! Status updates that another process keeps changing are reported and slowed down. Otherwise, two
//! controllers that manage one object would write its status as fast as they can.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::Controller;
use super::queue::Subject;
use super::report::{Draft, old_status, timeless};
use crate::cluster::act::News;
use crate::lifecycle::Stored;
use crate::machine::backoff::Backoff;
use crate::machine::compare::fingerprint;

/// How often a report may be made again without a pause.
const FREELY: u32 = 4;
/// Duration after which a status update counts as lasting.
const STANDS: Duration = Duration::from_secs(60);

/// Status updates of one object that repeat the previous one over an equal foreign status. A person
/// who edits a status changes one field after another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contested {
    content: u64,
    /// Fingerprint of the foreign status that preceded each of these updates.
    theirs: u64,
    again: u32,
    /// When the last one ended.
    ended: Instant,
    /// When the next may leave.
    free: Instant,
}

impl Contested {
    /// Counts a report that ended well.
    fn next(before: Option<Self>, (content, theirs): (u64, u64), now: Instant) -> Self {
        let same = before
            .filter(|one| (one.content, one.theirs) == (content, theirs))
            .filter(|one| now < one.free.max(one.ended) + STANDS);
        let again = same.map_or(0, |one| one.again + 1);
        let wait = match again.saturating_sub(FREELY) {
            0 => Duration::ZERO,
            times => Backoff::REPEATED.after(times, u64::MAX / 2),
        };
        Self {
            content,
            theirs,
            again,
            ended: now,
            free: now + wait,
        }
    }

    /// Until when the same report waits.
    pub(crate) fn slowed(&self, draft: &Draft, seen: &Stored, now: Instant) -> Option<Instant> {
        let is_waiting = self.free > now;
        let is_same = || self.content == draft.content() && self.theirs == reported(seen);
        (is_waiting && is_same()).then_some(self.free)
    }

    /// When it is free.
    pub(crate) fn free(&self) -> Instant {
        self.free
    }
}

impl Controller {
    /// Delays the next equal status update if others change the reported status, and reports who
    /// does.
    pub(super) fn note_report(&mut self, subject: &Subject, draft: &Draft, seen: &Stored) {
        let Some(memory) = self.memories.get_mut(subject) else {
            return;
        };
        let both = (draft.content(), reported(seen));
        let contested = Contested::next(memory.contested, both, Instant::now());
        memory.contested = Some(contested);
        if contested.again != FREELY + 1 {
            return;
        }
        let runner = &self.runners[subject.lifecycle];
        let manager = &runner.naming.status_manager;
        let who = rivals(seen.raw.as_deref(), manager);
        let note = format!(
            "its status is changed {who} whenever it is reported: one of them must leave it alone"
        );
        let kind = runner.subject_kind.clone();
        let object = subject.name.of_kind(&kind);
        tracing::warn!(%object, "slowing down: {object}: {note}");
        let news = News {
            warning: true,
            reason: "RepeatedWrites".to_owned(),
            note,
        };
        let about = (&subject.name, seen.meta.uid.as_deref());
        self.send_event(subject.lifecycle, &kind, about, news);
    }
}

fn reported(seen: &Stored) -> u64 {
    fingerprint(&timeless(old_status(seen)))
}

/// Names those who have written the status beside us, as the API server keeps it.
fn rivals(raw: Option<&Value>, ours: &str) -> String {
    let entries = raw.and_then(|raw| raw.pointer("/metadata/managedFields"));
    let entries = entries.and_then(Value::as_array).into_iter().flatten();
    let text = |entry: &Value, key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
    let of_status = entries.filter(|entry| entry.pointer("/fieldsV1/f:status").is_some());
    let names: BTreeSet<String> = of_status
        .filter_map(|entry| text(entry, "manager"))
        .filter(|name| name != ours)
        .map(|name| format!("field manager `{name}`"))
        .collect();
    match names.is_empty() {
        true => "by a writer that its managed fields do not name, such as a second controller,"
            .to_owned(),
        false => format!("by {}", Vec::from_iter(names).join(" and ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn who_else_writes_a_status_is_named() {
        let entry =
            |manager: &str, fields: Value| json!({ "manager": manager, "fieldsV1": fields });
        let check = |entries: Vec<Value>, expected: &str| {
            let raw = json!({ "metadata": { "managedFields": entries } });
            assert_eq!(rivals(Some(&raw), "us"), expected);
        };
        let (status, spec) = (json!({ "f:status": {} }), json!({ "f:spec": {} }));
        let alone = "by a writer that its managed fields do not name, such as a second controller,";
        check(
            vec![entry("us", status.clone()), entry("kubectl", spec)],
            alone,
        );
        let two = vec![entry("b", status.clone()), entry("a", status)];
        check(two, "by field manager `a` and field manager `b`");
    }

    #[tokio::test(start_paused = true)]
    async fn a_report_that_does_not_stand_waits_longer_each_time() {
        let mut last = None;
        let mut waits = Vec::new();
        for _ in 0..FREELY + 8 {
            let now = Instant::now();
            let next = Contested::next(last, (7, 1), now);
            waits.push((next.free - now).as_secs_f64().round());
            tokio::time::advance(next.free - now + Duration::from_millis(10)).await;
            last = Some(next);
        }
        assert_eq!(
            waits,
            [
                0.0, 0.0, 0.0, 0.0, 0.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0
            ]
        );
        for other in [(8, 1), (7, 2)] {
            assert_eq!(Contested::next(last, other, Instant::now()).again, 0);
        }
        let now = Instant::now() + STANDS;
        assert_eq!(Contested::next(last, (7, 1), now).again, 0);
    }
}
