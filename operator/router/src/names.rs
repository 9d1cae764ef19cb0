//! Names of servers are looked up now and then, so that one that means nothing is reported before a client finds out. Where connections go is not decided
//! here: a name that cannot be looked up for a moment closes nothing.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use crate::routing::Target;
use crate::shared::Shared;
use crate::state::Status;

/// How long until a name is looked up again that means something.
const AGAIN: Duration = Duration::from_secs(30);
/// One failure may be an accident: how long until the next look shows that it was none.
const DOUBT: Duration = Duration::from_secs(2);
/// How long until a name is looked up again that means nothing.
const UNKNOWN: Duration = Duration::from_secs(5);

/// Looks the host of a target up until the target is gone.
pub(crate) async fn watch(shared: Arc<Shared>, target: Arc<Target>) {
    let Some(server) = target.server() else {
        return;
    };
    let looking = async {
        let mut doubtful = true;
        loop {
            let pause = match server.addresses().await {
                Ok(_) => {
                    doubtful = true;
                    report(&shared, &target, None);
                    AGAIN
                }
                Err(_) if doubtful => {
                    doubtful = false;
                    DOUBT
                }
                Err(error) => {
                    let text = format!("cannot resolve host `{}`: {error}", server.host);
                    report(&shared, &target, Some(text));
                    UNKNOWN
                }
            };
            sleep(pause).await;
        }
    };
    tokio::select! {
        () = target.gone.cancelled() => {}
        () = looking => {}
    }
}

fn report(shared: &Shared, target: &Target, unknown: Option<String>) {
    let before = target.fault();
    if target.found(unknown.clone()) == unknown {
        return;
    }
    match &unknown {
        Some(text) => tracing::warn!(connector = &*target.name, "{text}"),
        None => tracing::info!(connector = &*target.name, "its host resolves again"),
    }
    let status = |fault: Option<String>| fault.map_or(Status::Up, Status::Failed);
    let (before, now) = (status(before), status(target.fault()));
    // What else is wrong with the entry goes before.
    let store = &shared.state;
    store.replace("tcpConnector", &target.name, &before, now);
}
