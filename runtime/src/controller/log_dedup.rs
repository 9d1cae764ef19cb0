//! Recent log messages. A lasting failure is logged now and then, and not once an attempt or once
//! an object.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

/// Longer than the longest pause between two attempts.
const AGAIN: Duration = Duration::from_secs(600);

#[derive(Default)]
pub(crate) struct LogDedup {
    told: BTreeMap<String, Instant>,
    pruned: Option<Instant>,
}

impl LogDedup {
    /// Returns true if a text was not logged for a while. It then counts as logged now.
    pub(crate) fn is_news(&mut self, text: &str, now: Instant) -> bool {
        if self.told.get(text).is_some_and(|at| now < *at + AGAIN) {
            return false;
        }
        // Not each time: there may be a text for every object.
        if self.pruned.is_none_or(|at| now >= at + AGAIN) {
            self.told.retain(|_, at| now < *at + AGAIN);
            self.pruned = Some(now);
        }
        self.told.insert(text.to_owned(), now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_news_once_in_ten_minutes() {
        let (mut said, now) = (LogDedup::default(), Instant::now());
        assert!(said.is_news("a", now));
        assert!(!said.is_news("a", now + AGAIN / 2));
        assert!(said.is_news("b", now + AGAIN / 2));
        assert!(said.is_news("a", now + AGAIN));
        assert!(said.is_news("c", now + 3 * AGAIN));
        assert_eq!(said.told.len(), 1);
    }
}
