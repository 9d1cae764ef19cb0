//! Shutdown on SIGTERM, SIGINT, or a trigger.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Signal to shut down. Every clone receives it.
#[derive(Clone, Debug)]
pub struct Shutdown(watch::Receiver<bool>);

/// Shuts down every `Shutdown` of its pair. Dropping it has the same effect.
#[derive(Debug)]
pub struct Trigger(watch::Sender<bool>);

impl Trigger {
    /// Stops everything that waits.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Shutdown {
    /// Returns a pair. The holder of the trigger decides when to shut down.
    pub fn pair() -> (Trigger, Self) {
        let (sender, receiver) = watch::channel(false);
        (Trigger(sender), Self(receiver))
    }

    /// Stops on SIGTERM and SIGINT.
    ///
    /// # Errors
    /// The signals cannot be heard.
    pub fn on_signals() -> io::Result<Self> {
        let (mut term, mut int) = (
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
        );
        let (trigger, shutdown) = Self::pair();
        tokio::spawn(async move {
            tokio::select! {
                biased;
                _ = term.recv() => tracing::info!("SIGTERM: stopping"),
                _ = int.recv() => tracing::info!("SIGINT: stopping"),
            }
            trigger.stop();
        });
        Ok(shutdown)
    }

    /// Returns true if it is time to stop.
    pub fn is_due(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// Waits until it is time.
    pub async fn wait(&mut self) {
        // An error means that the trigger is gone, which stops as well.
        let _ = self.0.wait_for(|stop| *stop).await.is_ok();
    }
}
