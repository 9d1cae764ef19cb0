//! A socket that stays where it is: where another process removes its file, it is made again. A process that listens at the same path is left alone.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Notify, watch};
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::socket::{BoundSocket, SocketError, bind, is_live};
use lifecycle_runtime::cause;

/// Interval at which the socket is checked.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// State of a socket: `Ok` if callers find it, or the reason if they do not.
pub(crate) type SocketState = Result<(), String>;

/// Hook that runs before a socket is created again. A caller that found the old socket must find
/// the new one.
pub(crate) type BeforeMaking = Arc<dyn Fn() + Send + Sync>;

/// A socket that is made again where it is removed.
pub(crate) struct KeptSocket {
    path: PathBuf,
    listener: UnixListener,
    bound: Arc<Mutex<BoundSocket>>,
    checks: Interval,
    state: watch::Sender<SocketState>,
    remake: Arc<Notify>,
    before_making: Option<BeforeMaking>,
}

/// Handle on a socket for other tasks.
#[derive(Clone)]
pub(crate) struct SocketHandle {
    pub(crate) path: PathBuf,
    pub(crate) state: watch::Receiver<SocketState>,
    /// Requests that the socket be created again although it exists.
    pub(crate) remake: Arc<Notify>,
}

impl KeptSocket {
    /// # Errors
    /// The process cannot listen there.
    pub(crate) fn bind(
        path: &Path,
        before_making: Option<BeforeMaking>,
    ) -> Result<Self, SocketError> {
        let (listener, bound) = bind(path)?;
        let mut checks = interval(CHECK_EVERY);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Self {
            path: path.to_owned(),
            listener,
            bound: Arc::new(Mutex::new(bound)),
            checks,
            state: watch::channel(Ok(())).0,
            remake: Arc::default(),
            before_making,
        })
    }

    pub(crate) fn handle(&self) -> SocketHandle {
        SocketHandle {
            path: self.path.clone(),
            state: self.state.subscribe(),
            remake: Arc::clone(&self.remake),
        }
    }

    /// Returns the guard that finally removes the file of the socket.
    pub(crate) fn bound(&self) -> Arc<Mutex<BoundSocket>> {
        Arc::clone(&self.bound)
    }

    /// The next connection. Keeps the socket meanwhile.
    ///
    /// # Errors
    /// The system refuses a connection; the next one may be taken.
    pub(crate) async fn accept(&mut self) -> io::Result<UnixStream> {
        loop {
            tokio::select! {
                accepted = self.listener.accept() => return Ok(accepted?.0),
                _ = self.checks.tick() => self.keep().await,
                () = self.remake.notified() => self.make(),
            }
        }
    }

    async fn keep(&mut self) {
        if locked(&self.bound).is_there() {
            self.set_state(Ok(()));
        } else if is_live(&self.path).await {
            let path = self.path.display();
            self.set_state(Err(format!(
                "another process listens at {path}, in the place of this one: stop it"
            )));
        } else {
            tracing::warn!(path = %self.path.display(), "another process removed the socket: it is made again");
            self.make();
        }
    }

    fn make(&mut self) {
        if let Some(before) = &self.before_making {
            before();
        }
        match bind(&self.path) {
            Ok((listener, bound)) => {
                // The old listener keeps its inode until the new one has its own: the two never look the same.
                *locked(&self.bound) = bound;
                self.listener = listener;
                self.set_state(Ok(()));
            }
            Err(error) => self.set_state(Err(cause::in_one_line(&error))),
        }
    }

    fn set_state(&self, state: SocketState) {
        self.state.send_if_modified(|known| {
            if *known == state {
                return false;
            }
            match &state {
                Ok(()) => tracing::info!(path = %self.path.display(), "listens again"),
                Err(why) => tracing::error!("callers do not find the driver: {why}"),
            }
            *known = state;
            true
        });
    }
}

fn locked(bound: &Mutex<BoundSocket>) -> MutexGuard<'_, BoundSocket> {
    bound.lock().unwrap_or_else(PoisonError::into_inner)
}
