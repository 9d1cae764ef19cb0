//! Seeded bugs in lifecycles of volumes, for suites that must find them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use lifecycle_runtime::lifecycle::call::{CallError, Called, Calling};
use lifecycle_runtime::lifecycle::{Answer, Machine, MachineWrapper, Observation, Once};

/// Kind of seeded bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// Unpublishing leaves a file beside the target.
    Leaves,
    /// Publishing writes a file of another owner.
    Touches,
    /// Only the process that staged a volume knows that it is staged.
    Remembers,
    /// Every call publishes again, even if the volume is published already.
    Repeats,
    /// Publishing a volume that is published already fails.
    Breaks,
}

/// A machine with a mistake.
pub struct Seeded<M> {
    inner: M,
    mistake: Mistake,
    staged: Mutex<BTreeSet<String>>,
    asked: AtomicU32,
}

/// A machine that makes a mistake.
pub fn seeded<M>(inner: M, mistake: Mistake) -> Seeded<M> {
    Seeded {
        inner,
        mistake,
        staged: Mutex::default(),
        asked: AtomicU32::new(0),
    }
}

impl<M: Machine> Seeded<M> {
    fn after(&self, effect: &str, key: &str) -> Result<(), CallError> {
        let beside = Path::new(key).parent().unwrap_or(Path::new("/"));
        let written = match (self.mistake, effect) {
            (Mistake::Leaves, "unpublish" | "remove_tree") => fs::write(beside.join("old"), ""),
            (Mistake::Touches, "publish" | "write_tree") => {
                fs::write(beside.join("vol_data.json"), "mine")
            }
            (_, _) => Ok(()),
        };
        written.map_err(|error| CallError::Failed(error.to_string()))
    }
}

impl<M: Machine> MachineWrapper for Seeded<M> {
    fn inner(&self) -> &dyn Machine {
        &self.inner
    }

    fn fact(&self, observation: &Observation, var: usize) -> Option<Answer> {
        let answer = self.inner.fact(observation, var)?;
        let of = &self.inner.ir().vars[var];
        let is = |value: &str| of.values[usize::from(answer.value)] == value;
        if of.name != "fresh" || !is("true") {
            return Some(answer);
        }
        let times = self.asked.fetch_add(1, Ordering::Relaxed);
        match self.mistake {
            Mistake::Repeats if times.is_multiple_of(2) => {
                let no = of.values.iter().position(|value| *value == "false")?;
                Some(Answer::plain(u8::try_from(no).ok()?))
            }
            Mistake::Breaks if times % 5 == 4 => panic!("it was not meant to be asked again"),
            Mistake::Leaves
            | Mistake::Touches
            | Mistake::Remembers
            | Mistake::Repeats
            | Mistake::Breaks => Some(answer),
        }
    }

    fn call<'a>(
        &'a self,
        observation: &'a Observation,
        effect: usize,
        once: Once<'a>,
    ) -> Option<Calling<'a>> {
        let name = self.inner.ir().effects[effect].name;
        let key = once.key().to_owned();
        if self.mistake == Mistake::Remembers {
            let mut staged = self.staged.lock().expect("nobody panics with it");
            if name == "stage" {
                staged.insert(key.clone());
            }
            if name == "unstage" && !staged.remove(&key) {
                return Some(Box::pin(std::future::ready(Ok(Called(0)))));
            }
        }
        let calling = self.inner.call(observation, effect, once)?;
        Some(Box::pin(async move {
            let called = calling.await?;
            self.after(name, &key)?;
            Ok(called)
        }))
    }
}
