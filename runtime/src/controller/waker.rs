//! Wake from the environment: a webhook or a queue reports that the subject of a poll has changed,
//! so that it is queried now. Independent of polls: it keeps the reports until the loop takes them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::task;

/// Upper bound on kept keys of one poll. If more have changed, all of its queries run.
const MOST: usize = 1_024;

/// Waker that reports a change of a poll's subject. Clones report to the same operator.
///
/// # Guarantees
/// It never waits, and its memory is bounded regardless of the number of reports. They cause at
/// most one query a second, and none before the time that the provider named.
#[derive(Clone, Debug)]
pub struct PollWaker {
    wakes: Wakes,
    input: String,
}

impl PollWaker {
    /// Runs every query with this text among its keys now:
    /// `changed("https://example.com/repository")`.
    pub fn changed(&self, key: &str) {
        self.wakes.notify(&self.input, Some(key));
    }

    /// Runs every query of the poll now.
    pub fn all_changed(&self) {
        self.wakes.notify(&self.input, None);
    }
}

/// Change notifications that are not taken yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wakes(Arc<Mutex<WakeState>>);

#[derive(Debug, Default)]
struct WakeState {
    changed: BTreeMap<String, Changed>,
    waiting: Option<task::Waker>,
}

/// Of one poll: which of its keys have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Changed {
    /// These.
    Keys(BTreeSet<String>),
    /// Any.
    All,
}

impl Wakes {
    /// For the poll of this name.
    pub(crate) fn waker(&self, input: &str) -> PollWaker {
        PollWaker {
            wakes: self.clone(),
            input: input.to_owned(),
        }
    }

    fn notify(&self, input: &str, key: Option<&str>) {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = said.changed.entry(input.to_owned());
        let changed = changed.or_insert_with(|| Changed::Keys(BTreeSet::new()));
        match (&mut *changed, key) {
            (Changed::Keys(keys), Some(key)) if keys.len() < MOST => {
                keys.insert(key.to_owned());
            }
            (Changed::Keys(keys), Some(key)) if keys.contains(key) => {}
            (Changed::Keys(_) | Changed::All, _) => *changed = Changed::All,
        }
        if let Some(waiting) = said.waiting.take() {
            waiting.wake();
        }
    }

    /// Returns true if a notification is pending. Otherwise it registers the waiting task, which is
    /// woken by the next one.
    pub(crate) fn is_said(&self, cx: &task::Context<'_>) -> bool {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if said.changed.is_empty() {
            said.waiting = Some(cx.waker().clone());
        }
        !said.changed.is_empty()
    }

    /// Takes the pending notifications, by the name of the poll.
    pub(crate) fn take(&self) -> BTreeMap<String, Changed> {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut said.changed)
    }
}

impl Changed {
    /// Returns true if the notification concerns a question with these keys. The keys are the text
    /// of one key, or a list of several.
    pub(crate) fn means(&self, key: &str) -> bool {
        let Self::Keys(changed) = self else {
            return true;
        };
        let several: Vec<Option<String>> = serde_json::from_str(key).unwrap_or_default();
        let mut all = several.iter().flatten();
        changed.contains(key) || all.any(|key| changed.contains(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed_keys(keys: impl IntoIterator<Item = String>) -> Changed {
        let wakes = Wakes::default();
        let waker = wakes.waker("report");
        keys.into_iter().for_each(|key| waker.changed(&key));
        wakes.take().remove("report").expect("it was said")
    }

    #[test]
    fn a_key_means_each_question_that_has_it() {
        let changed = changed_keys(["a".to_owned()]);
        assert!(changed.means("a"));
        assert!(changed.means(r#"["x","a",null]"#));
        assert!(!changed.means("b"));
        assert!(!changed.means(r#"["ab",null]"#));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let keys = |count: usize| (0..count).map(|n| n.to_string());
        assert!(matches!(changed_keys(keys(MOST)), Changed::Keys(kept) if kept.len() == MOST));
        assert!(matches!(
            changed_keys(keys(MOST).chain(keys(MOST))),
            Changed::Keys(_)
        ));
        assert_eq!(changed_keys(keys(MOST + 1)), Changed::All);
    }
}
