//! Lengths of time that an object says: which counts, and people are told where it is another one.

use std::time::Duration;

use super::Controller;
use super::queue::Subject;
use crate::cluster::act::News;
use crate::cluster::observe::Observed;
use crate::lifecycle::{Machine, Observation};
use crate::machine::ir::{Length, Lifecycle};
use crate::machine::length::{Flaw, Said};
use crate::machine::policy::Class;

/// How long it is for this object, and what is wrong with what the object says.
pub(super) fn length(
    machine: &dyn Machine,
    length: &Length,
    observation: &Observation,
) -> (Duration, Option<String>) {
    let said = length.said.and_then(|time| machine.time(observation, time));
    let (counts, flaw) = length.of(said.as_ref());
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
    format!("{path} is {said}, which is {why}: {} counts", shown(counts))
}

fn shown(length: Duration) -> String {
    match length.as_millis() {
        time if time > 0 && time.is_multiple_of(3_600_000) => format!("{}h", time / 3_600_000),
        time if time > 0 && time.is_multiple_of(60_000) => format!("{}m", time / 60_000),
        time if time.is_multiple_of(1_000) => format!("{}s", time / 1_000),
        time => format!("{time}ms"),
    }
}

/// Everything that an object may say.
fn lengths(ir: &'static Lifecycle) -> impl Iterator<Item = &'static Length> {
    let polled = ir.inputs.iter().filter_map(|input| input.every.as_ref());
    polled.chain(ir.states.iter().map(|state| &state.overdue))
}

impl Controller {
    /// Tells once of each length that the object says and that does not count; and again after it was another one.
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
        // Two of one path may have the same to say.
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
            self.tell(subject.lifecycle, &kind, (&about, uid.as_deref()), news);
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
            "spec.interval is `soon`, which is no length of time such as `1h30m`: 5s counts"
        );
        assert_eq!(
            told(Said::Seconds(1), Flaw::TooShort),
            "spec.interval is `1` seconds, which is too short: 5s counts"
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
            assert_eq!(shown(Duration::from_millis(milliseconds)), expected);
        }
    }
}
