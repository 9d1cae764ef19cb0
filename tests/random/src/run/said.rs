//! Times that the object says: said by chance and said otherwise now and then, and at rest every poll is asked as often as they want.

use std::collections::BTreeMap;
use std::time::Duration;

use lifecycle_runtime::machine::ir::Length;
use serde_json::{Value, json};

use super::{Run, SUBJECT};
use crate::watched::Pass;

/// No object says more, but in numbers that nobody counts.
pub(super) const LONGEST: Duration = Duration::from_secs(90);

/// How an object may say it, and how many milliseconds that are; `None` where it says nothing that counts.
fn ways() -> Vec<(Value, Option<u64>)> {
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

    /// One of the paths says something by chance.
    pub(super) fn say_a_time(&mut self) -> bool {
        let Some(path) = self.dice.pick(&self.times()).cloned() else {
            return false;
        };
        let Some((wanted, _)) = self.dice.pick(&ways()).cloned() else {
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
    fn wanted(&self, length: &Length) -> Duration {
        let this = self.cluster.get(0, SUBJECT).unwrap_or_default();
        let said = length.said.and_then(|time| self.times().get(time).cloned());
        let said = said.map(|path| {
            path.iter()
                .fold(&this, |at, part| &at[part.as_str()])
                .clone()
        });
        let known = ways()
            .into_iter()
            .find(|(way, _)| Some(way) == said.as_ref());
        let milliseconds = match known.and_then(|(_, milliseconds)| milliseconds) {
            Some(milliseconds) => milliseconds.max(length.least),
            None => length.otherwise,
        };
        Duration::from_millis(milliseconds)
    }

    /// How often each poll was asked until now.
    pub(super) fn asked(&self) -> BTreeMap<String, u64> {
        self.machine.outside.state().questions.clone()
    }

    /// In a time in which nothing happened, each was asked as often as the object says.
    pub(super) fn was_asked(&mut self, before: &BTreeMap<String, u64>, passed: Duration) {
        let Some(Pass { world, .. }) = self.last.clone() else {
            return;
        };
        if self.has_clock() || self.meaning.is_suspended(&world) {
            return;
        }
        let after = self.asked();
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
            let (times, every) = (count(&after) - count(before), self.wanted(&every));
            let most = passed.as_millis() / every.as_millis().max(1) + 2;
            let least = passed.as_millis() / (every.as_millis() + 10);
            let times = u128::from(times);
            // Who waits for a turn is asked later.
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
