//! Seeded bug between the meaning of a lifecycle and the running code. Runs that cannot find any
//! seeded bug prove nothing.

use std::fmt;
use std::sync::Arc;

use kube::Client;
use lifecycle_runtime::lifecycle::Machine;

type Running = Arc<dyn Fn(Arc<dyn Machine>) -> Arc<dyn Machine> + Send + Sync>;
type ClientLayer = Arc<dyn Fn(Client) -> Client + Send + Sync>;

/// Seeded bug.
#[derive(Clone)]
pub struct Planted {
    running: Running,
    through: ClientLayer,
}

impl Planted {
    /// Creates a seeded bug. `running` returns the machine that a process runs in place of a
    /// lifecycle. `through` wraps the client between the process and its server.
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
