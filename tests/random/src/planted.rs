//! A mistake between what a lifecycle means and what runs: runs that cannot find any prove nothing.

use std::fmt;
use std::sync::Arc;

use kube::Client;
use lifecycle_runtime::lifecycle::Machine;

type Running = Arc<dyn Fn(Arc<dyn Machine>) -> Arc<dyn Machine> + Send + Sync>;
type Through = Arc<dyn Fn(Client) -> Client + Send + Sync>;

/// What is wrong.
#[derive(Clone)]
pub struct Planted {
    running: Running,
    through: Through,
}

impl Planted {
    /// What a process runs in place of a lifecycle, and what is between it and its server.
    pub fn new(
        running: impl Fn(Arc<dyn Machine>) -> Arc<dyn Machine> + Send + Sync + 'static,
        through: impl Fn(Client) -> Client + Send + Sync + 'static,
    ) -> Self {
        Self {
            running: Arc::new(running),
            through: Arc::new(through),
        }
    }

    /// Nothing is wrong.
    pub fn nothing() -> Self {
        Self::new(|machine| machine, |client| client)
    }

    pub(crate) fn running(&self, machine: Arc<dyn Machine>) -> Arc<dyn Machine> {
        (self.running)(machine)
    }

    pub(crate) fn through(&self, client: Client) -> Client {
        (self.through)(client)
    }
}

impl fmt::Debug for Planted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Planted").finish_non_exhaustive()
    }
}
