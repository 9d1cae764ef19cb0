//! Periodic connections to servers without a Pod while a listener has their key. A server that is
//! down is thus reported before a client notices. This module does not decide the destination of
//! connections. Sockets stay, and a server that is down is tried last, as it is without this check.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::routing::{Check, ServerAddress, Target};
use crate::shared::Shared;

/// How long until a server is connected to again that answers, or that has streams.
const FINE: Duration = Duration::from_secs(15);
/// One failure may be an accident: how long until the next try shows that it was none.
const DOUBT: Duration = Duration::from_secs(1);
/// How long until a server is connected to again that is down.
const DOWN: Duration = Duration::from_secs(2);
/// Time until the router checks again for a listener of an unmatched target.
const UNMATCHED: Duration = Duration::from_secs(2);

/// Connects to the server of a target now and then, until the target is gone.
pub(crate) async fn watch(shared: Arc<Shared>, target: Arc<Target>) {
    let Some(server) = target.server() else {
        return;
    };
    let looking = async {
        let mut doubtful = true;
        loop {
            let pause = if shared.state.listeners(target.key()) == 0 {
                doubtful = true;
                shared.report(&target, Check::Server, None);
                UNMATCHED
            } else if target.open() > 0 {
                FINE
            } else {
                match connected(&shared, server).await {
                    Ok(()) => {
                        doubtful = true;
                        shared.report(&target, Check::Server, None);
                        FINE
                    }
                    Err(_) if doubtful => {
                        doubtful = false;
                        DOUBT
                    }
                    Err(error) => {
                        let text = server.unreachable(&error);
                        shared.report(&target, Check::Server, Some(text));
                        DOWN
                    }
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

/// Connects, and closes in peace. A name that means nothing is reported by who looks names up.
async fn connected(shared: &Shared, server: &ServerAddress) -> io::Result<()> {
    let Ok(addresses) = server.addresses().await else {
        return Ok(());
    };
    let limit = shared.options.connect_timeout;
    let late = |_| {
        let why = "it did not answer in time";
        Err(io::Error::new(io::ErrorKind::TimedOut, why))
    };
    let stream = timeout(limit, TcpStream::connect(&*addresses)).await;
    stream.unwrap_or_else(late).map(drop)
}
