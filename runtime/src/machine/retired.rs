//! Leftovers of an older version of the lifecycle, which are removed. Pure: names as they are
//! declared.

use super::ir::{Input, Leaves, Lifecycle, Mode, Retired};

impl Lifecycle {
    /// Returns true if an older version left anything that this one removes.
    pub fn retires(&self) -> bool {
        !self.retired.is_empty() || self.inputs.iter().any(|input| input.retired.is_some())
    }

    /// Returns the finalizers of older versions, given the current name. The current finalizer is
    /// never included.
    pub fn retired_finalizers(&self, ours: &str) -> Vec<String> {
        let named = self.retired.iter().filter_map(|retired| match retired {
            Retired::Finalizer(name) => Some(name.unwrap_or(ours).to_owned()),
            Retired::Record { .. }
            | Retired::Annotation { .. }
            | Retired::Condition(_)
            | Retired::Field(_) => None,
        });
        named
            .filter(|name| name != ours || !self.has_finalizer())
            .collect()
    }

    /// Returns the annotations of records of older versions, each with its successor. `annotation`
    /// maps a declared name to its annotation.
    pub fn retired_records(
        &self,
        annotation: impl Fn(&str) -> String,
    ) -> Vec<(String, Option<&'static str>)> {
        let keys = self.retired.iter().filter_map(|retired| match *retired {
            Retired::Record { name, now } => Some((annotation(name), now)),
            Retired::Annotation { key, now } => Some((key.to_owned(), now)),
            Retired::Finalizer(_) | Retired::Condition(_) | Retired::Field(_) => None,
        });
        let is_declared = |key: &String| {
            let is_record = |input: &Input| matches!(input.mode, Mode::Record | Mode::Noted);
            let mut records = self.inputs.iter().filter(|input| is_record(input));
            records.any(|input| annotation(input.name) == *key)
        };
        keys.filter(|(key, _)| !is_declared(key)).collect()
    }

    /// The conditions that an older version wrote.
    pub fn retired_conditions(&self) -> impl Iterator<Item = &'static str> {
        self.retired.iter().filter_map(|retired| match *retired {
            Retired::Condition(name) => Some(name),
            Retired::Finalizer(_)
            | Retired::Record { .. }
            | Retired::Annotation { .. }
            | Retired::Field(_) => None,
        })
    }

    /// The fields of the status that an older version wrote.
    pub fn retired_fields(&self) -> impl Iterator<Item = &'static str> {
        self.retired.iter().filter_map(|retired| match *retired {
            Retired::Field(name) => Some(name),
            Retired::Finalizer(_)
            | Retired::Record { .. }
            | Retired::Annotation { .. }
            | Retired::Condition(_) => None,
        })
    }

    /// Returns the inputs whose objects an older version left, and the treatment of those objects.
    pub fn retired_inputs(&self) -> impl Iterator<Item = (usize, Leaves)> {
        let inputs = self.inputs.iter().enumerate();
        inputs.filter_map(|(at, input)| Some((at, input.retired?)))
    }
}
