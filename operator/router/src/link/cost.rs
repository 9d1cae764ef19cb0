//! Cost of a link for one of its ends, which may change while the link lasts.

use tokio::sync::watch;

use super::announcement::MAX_COST;

/// Cost of a link here, now and later.
#[derive(Clone, Debug)]
pub struct Cost(watch::Receiver<u32>);

impl Cost {
    /// Always this.
    pub fn fixed(cost: u32) -> Self {
        Self(watch::channel(cost).1)
    }

    /// Returns the current cost; a value below 1 counts as 1.
    pub fn now(&self) -> u32 {
        self.0.borrow().clamp(1, MAX_COST)
    }

    /// The cost as soon as it is another one.
    pub(super) async fn other_than(&mut self, known: u32) -> u32 {
        let differs = |cost: &u32| (*cost).clamp(1, MAX_COST) != known;
        if self.0.wait_for(differs).await.is_err() {
            // All writers that could change it are gone.
            std::future::pending::<()>().await;
        }
        self.now()
    }
}

impl Default for Cost {
    fn default() -> Self {
        Self::fixed(1)
    }
}

impl From<watch::Receiver<u32>> for Cost {
    fn from(cost: watch::Receiver<u32>) -> Self {
        Self(cost)
    }
}
