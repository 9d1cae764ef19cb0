//! Periodic lookup of server names, so that a name that does not resolve is reported before a
//! client notices. This module does not decide the destination of connections. A name that fails to
//! resolve for a moment closes nothing.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use crate::routing::{Check, Target};
use crate::shared::Shared;

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
                    shared.report(&target, Check::Name, None);
                    AGAIN
                }
                Err(_) if doubtful => {
                    doubtful = false;
                    DOUBT
                }
                Err(error) => {
                    let text = format!("cannot resolve host `{}`: {error}", server.host);
                    shared.report(&target, Check::Name, Some(text));
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
