//! Durations that the object specifies. They are set at random and changed now and then. Once
//! settled, every poll is queried at the specified interval.

use std::collections::BTreeMap;
use std::time::Duration;

use lifecycle_runtime::machine::ir::Length;
use serde_json::{Value, json};

use super::{Run, SUBJECT};
use crate::watched::Pass;

/// Upper bound on the durations that an object specifies, except in numbers that have no effect.
pub(super) const LONGEST: Duration = Duration::from_secs(90);

/// Returns the ways in which an object may specify a duration, each in milliseconds; `None` if the
/// value has no effect.
fn duration_texts() -> Vec<(Value, Option<u64>)> {
    vec![
        (Value::Null, None),
        (json!(""), None),
        (json!("soon"), None),
        (json!("30"), None),
        (json!("1h-5m"), None),
        (json!("1s"), Some(1_000)),
        (json!("1m30s"), Some(90_000)),
        (json!("2.5s"), Some(2_500)),
        (json!("500ms4s"), Some(4_500)),
        (json!("0"), Some(0)),
        (json!("-5s"), Some(0)),
        (json!(20), Some(20_000)),
        (json!(-3), Some(0)),
    ]
}

impl Run<'_> {
    fn times(&self) -> Vec<Vec<String>> {
        let times = self.machine.ir.times.iter();
        let parts = |path: &&str| path.split('.').map(str::to_owned).collect();
        times.map(parts).collect()
    }

    /// Sets a random duration at one of the paths.
    pub(super) fn say_a_time(&mut self) -> bool {
        let Some(path) = self.dice.pick(&self.times()).cloned() else {
            return false;
        };
        let Some((wanted, _)) = self.dice.pick(&duration_texts()).cloned() else {
            return false;
        };
        self.cluster.edit(0, SUBJECT, |object| {
            let mut at = object;
            for part in &path {
                at = &mut at[part.as_str()];
            }
            *at = wanted;
        })
    }

    /// How long it is, calculated apart from who decides it.
    fn expected_duration(&self, length: &Length) -> Duration {
        let this = self.cluster.get(0, SUBJECT).unwrap_or_default();
        let said = length.said.and_then(|time| self.times().get(time).cloned());
        let said = said.map(|path| {
            path.iter()
                .fold(&this, |at, part| &at[part.as_str()])
                .clone()
        });
        let known = duration_texts()
            .into_iter()
            .find(|(way, _)| Some(way) == said.as_ref());
        let milliseconds = match known.and_then(|(_, milliseconds)| milliseconds) {
            Some(milliseconds) => milliseconds.max(length.least),
            None => length.otherwise,
        };
        Duration::from_millis(milliseconds)
    }

    /// Returns how often each poll has been queried.
    pub(super) fn poll_counts(&self) -> BTreeMap<String, u64> {
        self.machine.outside.state().questions.clone()
    }

    /// Checks that each poll was queried at the interval of the object during a quiet time.
    pub(super) fn was_asked(&mut self, before: &BTreeMap<String, u64>, passed: Duration) {
        let Some(Pass { world, .. }) = self.last.clone() else {
            return;
        };
        if self.has_clock() || self.meaning.is_suspended(&world) {
            return;
        }
        let after = self.poll_counts();
        let ir = self.machine.ir;
        let said = ir
            .inputs
            .iter()
            .filter(|input| input.every.is_some_and(|e| e.said.is_some()));
        let said = said.filter(|input| world.get(input.name).is_some_and(|known| known == "Known"));
        let limited = ir.inputs.iter().filter(|input| input.provider.is_some());
        let limited: Vec<&str> = limited.map(|input| input.name).collect();
        for (name, every) in said.filter_map(|input| Some((input.name, input.every?))) {
            let count = |all: &BTreeMap<String, u64>| all.get(name).copied().unwrap_or_default();
            let (times, every) = (
                count(&after) - count(before),
                self.expected_duration(&every),
            );
            let most = passed.as_millis() / every.as_millis().max(1) + 2;
            let least = passed.as_millis() / (every.as_millis() + 10);
            let times = u128::from(times);
            // A poll that waits for a turn is queried later.
            let is_late = !limited.contains(&name) && times + 2 < least;
            if times > most || is_late {
                self.find(format!(
                    "another interval: {name} was asked {times} times in {passed:?}, and the object wants it every {every:?}"
                ));
                return;
            }
            self.ran.intervals += 1;
        }
    }
}
