//! Versions of the data that a reconcile read, as numbers that stay constant while none of it
//! changes.

use serde_json::json;

use super::{Name, Observed, Observing};
use crate::lifecycle::observation::Slot;
use crate::machine::compare::fingerprint;
use crate::machine::ir::{Effect, Input, Lifecycle, Mode, Source};

impl Observing<'_> {
    /// Records the version of its sources in every plan.
    pub(super) fn note_reads(&mut self) {
        for effect in 0..self.plans.len() {
            if self.plans[effect].is_empty() {
                continue;
            }
            let reads = self.reads(effect);
            self.plans[effect]
                .iter_mut()
                .for_each(|plan| plan.reads = reads);
        }
    }

    /// Returns the version of the data that an effect reads. Of the object it includes the fields
    /// that users write. Of the inputs it includes the versions of those that the effect names, or
    /// all if it reads computed values. Changes by the effect itself do not count.
    pub(super) fn reads(&self, effect: usize) -> u64 {
        let declared = &self.ir.effects[effect];
        let computed = |source: &Source| match source {
            // The effect already names the sources of the value.
            Source::Value(value) => !self.ir.keeps(declared.target, *value),
            Source::Fact(_) => true,
            Source::Input(_) | Source::This | Source::Request => false,
        };
        let all = declared.from.iter().any(computed);
        let noted = self.ir.noted_in(declared.target);
        let inputs = 0..self.ir.inputs.len();
        let inputs = inputs.filter(|input| {
            let is_named = declared.from.contains(&Source::Input(*input)) || noted == Some(*input);
            !self.ir.writes(declared, *input) && (all || is_named)
        });
        let read = inputs.map(|input| {
            let asked = self.polls.iter().find(|(of, _)| *of == input);
            let view = self.observer.view;
            let answer = asked.map(|(input, key)| view.answer_version(*input, key));
            json!([self.versions(input), answer])
        });
        let meta = &self.subject.meta;
        let mode = self.ir.inputs[declared.target].mode;
        let is_record = matches!(mode, Mode::Record | Mode::Noted);
        // A write of an annotation of the object would change its own source.
        let written = (!is_record).then(|| json!([meta.labels, meta.annotations]));
        fingerprint(&json!([
            meta.uid,
            meta.generation,
            written,
            read.collect::<Vec<_>>()
        ]))
    }

    pub(super) fn versions(&self, input: usize) -> Vec<Option<String>> {
        let objects = self.observation.objects(input).iter();
        objects.map(|o| o.meta.resource_version.clone()).collect()
    }
}

impl Observed {
    /// Returns the version of all observed objects. With an effect, its target and the values
    /// computed from it are excluded.
    pub fn read(
        &self,
        ir: &Lifecycle,
        besides: Option<&Effect>,
        answered: impl Fn(usize, &str) -> u64,
        version: impl Fn(usize, &Name) -> Option<String>,
    ) -> u64 {
        let changes = |(number, input): (usize, &Input)| {
            besides.is_some_and(|effect| {
                let mut affected = effect.affects.iter();
                ir.writes(effect, number) || affected.any(|var| input.var == Some(*var))
            })
        };
        let inputs = ir.inputs.iter().enumerate().filter(|one| !changes(*one));
        let seen = inputs.map(|(number, _)| {
            let asked = self.polls.iter().find(|(of, _)| *of == number);
            let answer = asked.map(|(input, key)| answered(*input, key));
            let found = match self.observation.slot(number) {
                Slot::Closed => json!("closed"),
                Slot::Objects(_) => {
                    let touched = self.touched.iter().filter(|(of, _)| *of == number);
                    let versions = touched.map(|(of, name)| version(*of, name));
                    json!(versions.collect::<Vec<_>>())
                }
                Slot::Plain(answer) => json!(answer.is_some()),
                Slot::Recorded { text, .. } => json!(text),
            };
            json!([found, answer])
        });
        let meta = &self.observation.subject().meta;
        let is_record =
            besides.is_some_and(|e| matches!(ir.inputs[e.target].mode, Mode::Record | Mode::Noted));
        fingerprint(&json!([
            json!([meta.uid, meta.generation, meta.finalizers]),
            json!(meta.deletion_timestamp),
            (!is_record).then(|| json!([meta.labels, meta.annotations])),
            seen.collect::<Vec<_>>()
        ]))
    }
}
