//! A wake from outside: a webhook or a queue says that what a poll asks about has changed, so that it is asked now.
//! Knows no poll: it keeps what was said until the loop takes it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::task;

/// How many keys of one poll are kept; where more have changed, all of its questions are asked.
const MOST: usize = 1_024;

/// Says that what a poll asks about has changed. Clones say it to the same operator.
///
/// # Guarantees
/// It never waits, and keeps little, however often it is told. A question is asked once a second at the most because of it, and not before the time
/// that its provider named.
#[derive(Clone, Debug)]
pub struct PollWaker {
    wakes: Wakes,
    input: String,
}

impl PollWaker {
    /// Every question that has this text among its keys is asked now: `changed("https://example.com/repository")`.
    pub fn changed(&self, key: &str) {
        self.wakes.say(&self.input, Some(key));
    }

    /// Every question of the poll is asked now.
    pub fn all_changed(&self) {
        self.wakes.say(&self.input, None);
    }
}

/// What was said and not taken yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wakes(Arc<Mutex<Said>>);

#[derive(Debug, Default)]
struct Said {
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

    fn say(&self, input: &str, key: Option<&str>) {
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

    /// Whether something was said; else whoever waits is woken when it is.
    pub(crate) fn is_said(&self, cx: &task::Context<'_>) -> bool {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if said.changed.is_empty() {
            said.waiting = Some(cx.waker().clone());
        }
        !said.changed.is_empty()
    }

    /// What was said, by the name of the poll.
    pub(crate) fn take(&self) -> BTreeMap<String, Changed> {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut said.changed)
    }
}

impl Changed {
    /// Whether a question by these keys is meant: the text of one, or a list of several.
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

    fn said(keys: impl IntoIterator<Item = String>) -> Changed {
        let wakes = Wakes::default();
        let waker = wakes.waker("report");
        keys.into_iter().for_each(|key| waker.changed(&key));
        wakes.take().remove("report").expect("it was said")
    }

    #[test]
    fn a_key_means_each_question_that_has_it() {
        let changed = said(["a".to_owned()]);
        assert!(changed.means("a"));
        assert!(changed.means(r#"["x","a",null]"#));
        assert!(!changed.means("b"));
        assert!(!changed.means(r#"["ab",null]"#));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let keys = |count: usize| (0..count).map(|n| n.to_string());
        assert!(matches!(said(keys(MOST)), Changed::Keys(kept) if kept.len() == MOST));
        assert!(matches!(
            said(keys(MOST).chain(keys(MOST))),
            Changed::Keys(_)
        ));
        assert_eq!(said(keys(MOST + 1)), Changed::All);
    }
}
