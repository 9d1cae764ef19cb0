//! Durations that an object specifies: the effective one, and a report to users if it differs.

use std::time::Duration;

use super::Controller;
use super::queue::Subject;
use crate::cluster::act::News;
use crate::cluster::observe::Observed;
use crate::lifecycle::{Machine, Observation};
use crate::machine::ir::{Length, Lifecycle};
use crate::machine::length::{Flaw, Said};
use crate::machine::policy::Class;

/// Returns the effective duration for this object, and the flaw of the specified one.
pub(super) fn length(
    machine: &dyn Machine,
    length: &Length,
    observation: &Observation,
) -> (Duration, Option<String>) {
    let said = length.said.and_then(|time| machine.time(observation, time));
    let (counts, flaw) = length.resolve(said.as_ref());
    let wrong = flaw.zip(length.said).zip(said);
    let told = wrong.map(|((flaw, time), said)| {
        let path = machine.ir().times[time];
        sentence(path, &said, (flaw, counts))
    });
    (counts, told)
}

fn sentence(path: &str, said: &Said, (flaw, counts): (Flaw, Duration)) -> String {
    let why = match flaw {
        Flaw::Unreadable => "no length of time such as `1h30m`",
        Flaw::TooShort => "too short",
    };
    format!(
        "{path} is {said}, which is {why}: using {} instead",
        format_duration(counts)
    )
}

fn format_duration(length: Duration) -> String {
    match length.as_millis() {
        time if time > 0 && time.is_multiple_of(3_600_000) => format!("{}h", time / 3_600_000),
        time if time > 0 && time.is_multiple_of(60_000) => format!("{}m", time / 60_000),
        time if time.is_multiple_of(1_000) => format!("{}s", time / 1_000),
        time => format!("{time}ms"),
    }
}

/// Returns every duration that an object may specify.
fn lengths(ir: &'static Lifecycle) -> impl Iterator<Item = &'static Length> {
    let polled = ir.inputs.iter().filter_map(|input| input.every.as_ref());
    polled.chain(ir.states.iter().map(|state| &state.overdue))
}

impl Controller {
    /// Reports each invalid duration of the object once, and again after it was changed.
    pub(super) fn note_flaws(&mut self, subject: &Subject, observed: &Observed, class: Class) {
        let runner = &self.runners[subject.lifecycle];
        let (ir, machine) = (runner.ir, &*runner.machine);
        let is_ours = observed.failure.is_none() && !observed.is_deleting();
        if ir.times.is_empty() || !is_ours || ir.is_silent(class) || ir.is_suspended(class) {
            return;
        }
        let flaws = lengths(ir).enumerate();
        let flaws = flaws
            .filter_map(|(at, one)| Some((at, length(machine, one, &observed.observation).1?)));
        let flaws = flaws.collect();
        let Some(memory) = self.memories.get_mut(subject) else {
            return;
        };
        let before = std::mem::replace(&mut memory.flaws, flaws);
        // Two durations of one path may give equal messages.
        let mut news: Vec<String> = Vec::new();
        for (at, note) in &memory.flaws {
            if before.get(at) != Some(note) && !news.contains(note) {
                news.push(note.clone());
            }
        }
        let (about, kind) = (
            subject.name.clone(),
            self.runners[subject.lifecycle].subject_kind.clone(),
        );
        let uid = observed.observation.subject().meta.uid.clone();
        for note in news {
            tracing::warn!(object = %about.of_kind(&kind), "{note}");
            let news = News {
                warning: true,
                reason: "InvalidTime".to_owned(),
                note,
            };
            self.send_event(subject.lifecycle, &kind, (&about, uid.as_deref()), news);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_told_what_is_there_and_what_counts() {
        let told =
            |said: Said, flaw| sentence("spec.interval", &said, (flaw, Duration::from_secs(5)));
        let soon = Said::Text("soon".to_owned());
        assert_eq!(
            told(soon, Flaw::Unreadable),
            "spec.interval is `soon`, which is no length of time such as `1h30m`: using 5s instead"
        );
        assert_eq!(
            told(Said::Seconds(1), Flaw::TooShort),
            "spec.interval is `1` seconds, which is too short: using 5s instead"
        );
    }

    #[test]
    fn a_length_is_shown_as_kubernetes_writes_it() {
        let table = [
            (5_400_000, "90m"),
            (3_600_000, "1h"),
            (30_000, "30s"),
            (1_500, "1500ms"),
            (0, "0s"),
        ];
        for (milliseconds, expected) in table {
            assert_eq!(
                format_duration(Duration::from_millis(milliseconds)),
                expected
            );
        }
    }
}
