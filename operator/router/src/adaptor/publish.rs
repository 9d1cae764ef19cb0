//! The place of the network status: a file or a ConfigMap, written at most once a second, only if it changes, and only by the leader.

#[cfg(feature = "kubernetes")]
mod kubernetes;

use std::convert::Infallible;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "kubernetes")]
pub use kubernetes::StatusConfigMap;
use thiserror::Error;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::boxed::BoxFuture;
use crate::file;
use crate::plain::path;
use crate::recurring::Recurring;

/// The largest document, in bytes: a ConfigMap has room for a little more.
pub(super) const MAX_DOCUMENT: usize = 900 << 10;

/// The pause after each write.
const PAUSE: Duration = Duration::from_secs(1);

/// How long a write may take.
const WRITING: Duration = Duration::from_secs(10);

/// Why the network status is not written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The file cannot be written.
    #[error(
        "cannot write the network status to {}: make its folder writable",
        path(at)
    )]
    File {
        /// The file.
        at: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The ConfigMap cannot be written.
    #[cfg(feature = "kubernetes")]
    #[error(
        "cannot write the network status to ConfigMap `{namespace}/{name}`: give the ServiceAccount the verbs `create` and `patch` for it"
    )]
    ConfigMap {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: &'static str,
        /// The reason.
        source: Box<kube::Error>,
    },
}

/// A place for the network status.
pub trait NetworkStatus: Send + Sync {
    /// Writes a document, whole.
    fn write<'a>(&'a self, document: &'a str) -> BoxFuture<'a, Result<(), WriteError>>;

    /// Reports, without end, if this process is the one that writes and announces the site.
    fn elect(&self, leads: watch::Sender<bool>) -> BoxFuture<'_, ()>;
}

/// File that only this process writes.
#[derive(Clone, Debug)]
pub struct StatusFile(pub PathBuf);

impl NetworkStatus for StatusFile {
    fn write<'a>(&'a self, document: &'a str) -> BoxFuture<'a, Result<(), WriteError>> {
        Box::pin(async move {
            let (at, text) = (self.0.clone(), document.to_owned());
            let late = || tracing::warn!("writing the network status takes long");
            let written =
                file::run_blocking(move || file::replace(&at, text.as_bytes()), late).await;
            let at = self.0.clone();
            written.map_err(|source| WriteError::File { at, source })
        })
    }

    fn elect(&self, leads: watch::Sender<bool>) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            leads.send_replace(true);
            leads.closed().await;
        })
    }
}

/// Writes each new document while this process is the leader, without end.
pub(super) async fn publish(
    status: &dyn NetworkStatus,
    mut documents: watch::Receiver<Option<Arc<String>>>,
    mut is_leader: watch::Receiver<bool>,
) -> Infallible {
    let mut written: Option<Arc<String>> = None;
    let mut trouble = Recurring::default();
    loop {
        let leads = *is_leader.borrow_and_update();
        let newest = documents.borrow_and_update().clone();
        if !leads {
            // Another process writes meanwhile.
            written = None;
        }
        match newest.filter(|newest| leads && written.as_ref() != Some(newest)) {
            Some(document) => {
                let done = timeout(WRITING, status.write(&document)).await;
                let failure = match done {
                    Ok(Ok(())) => None,
                    Ok(Err(error)) => Some(crate::cause::chain(&error)),
                    Err(_) => Some(format!("the network status is not written in {WRITING:?}")),
                };
                match failure {
                    None => {
                        written = Some(document);
                        if trouble.worked() {
                            tracing::info!("the network status is written again");
                        }
                    }
                    Some(why) if trouble.failed(&why) => {
                        tracing::warn!("{}", crate::plain::plain(&why));
                    }
                    Some(_) => {}
                }
                sleep(PAUSE).await;
            }
            None => {
                // The senders are as old as the collection.
                tokio::select! {
                    _changed = documents.changed() => {}
                    _changed = is_leader.changed() => {}
                }
            }
        }
    }
}
