//! What keeps a process from being ready, said by its parts and read by whoever asks for its health. Serves nothing itself.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Which parts of a process are not ready yet, and why. Clones are the same. Not ready until an operator has started.
#[derive(Clone, Debug)]
pub struct Health {
    waiting: Arc<Mutex<BTreeMap<String, String>>>,
}

/// The part that every process has.
const START: &str = "start";

impl Default for Health {
    fn default() -> Self {
        let starting = (START.to_owned(), "the operator is starting".to_owned());
        Self {
            waiting: Arc::new(Mutex::new([starting].into())),
        }
    }
}

impl Health {
    /// Every part has said whether it is ready.
    pub fn started(&self) {
        self.works(START);
    }

    /// A part is not ready, for a reason in one sentence.
    pub fn waits(&self, part: impl Into<String>, why: impl Into<String>) {
        self.waiting().insert(part.into(), why.into());
    }

    /// A part is ready.
    pub fn works(&self, part: &str) {
        self.waiting().remove(part);
    }

    /// What is not ready: the name of each part and the reason, by name. Nothing: the process is ready.
    pub fn missing(&self) -> Vec<(String, String)> {
        let waiting = self.waiting();
        let parts = waiting.iter();
        parts
            .map(|(part, why)| (part.clone(), why.clone()))
            .collect()
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        // A part that panicked says nothing half.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_named_until_it_works() {
        let health = Health::default();
        let same = health.clone();
        assert_eq!(health.missing().len(), 1, "it has not started");
        health.started();
        health.waits("caches", "Services are not listed yet");
        health.waits("caches", "Nodes are not listed yet");
        health.waits("csi", "no socket");
        same.works("csi");
        let missing = [("caches".to_owned(), "Nodes are not listed yet".to_owned())];
        assert_eq!(same.missing(), missing);
        same.works("caches");
        assert_eq!(health.missing(), []);
    }
}
