//! Checks now and then the hosts of listeners that wait for a connector. A host that is not an
//! address of this machine is thus reported before a client or a connector comes. The router does
//! not listen meanwhile.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::config::Host;
use crate::shared::Shared;
use crate::state::Status;
use crate::{cause, tcp};

/// Time until a valid host is checked again.
const AGAIN: Duration = Duration::from_secs(30);
/// One failure may be an accident: how long until the next look shows that it was none.
const DOUBT: Duration = Duration::from_secs(1);
/// Time until an invalid host is checked again.
const WRONG: Duration = Duration::from_secs(5);

/// Checks the host of one listener until it is dropped.
#[derive(Debug)]
pub(crate) struct HostWatch {
    hash: String,
    looking: JoinHandle<()>,
}

impl Drop for HostWatch {
    fn drop(&mut self) {
        self.looking.abort();
    }
}

impl HostWatch {
    /// Starts the watch for the listener with this hash.
    pub(crate) fn start(shared: &Arc<Shared>, name: &str, hash: &str, at: (Host, u16)) -> Self {
        let looking = watch_host(shared.clone(), name.to_owned(), at);
        Self {
            hash: hash.to_owned(),
            looking: tokio::spawn(looking),
        }
    }

    /// Returns true if the listener is unchanged.
    pub(crate) fn is_of(&self, hash: &str) -> bool {
        self.hash == hash
    }
}

async fn watch_host(shared: Arc<Shared>, name: String, (host, port): (Host, u16)) {
    let (mut said, mut doubtful) = (Status::Idle, true);
    loop {
        let (status, pause) = match tcp::is_local(&host, port).await {
            Ok(()) => {
                doubtful = true;
                (Status::Idle, AGAIN)
            }
            Err(_) if doubtful => {
                doubtful = false;
                (said.clone(), DOUBT)
            }
            Err(error) => (Status::Failed(cause::chain(&error)), WRONG),
        };
        if let Status::Failed(why) = &status
            && status != said
        {
            tracing::warn!(listener = name, "{why}");
        }
        let before = std::mem::replace(&mut said, status.clone());
        shared.state.replace("tcpListener", &name, &before, status);
        sleep(pause).await;
    }
}
