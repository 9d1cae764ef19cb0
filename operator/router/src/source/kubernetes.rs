//! Configuration from a namespace of Kubernetes: a ConfigMap with the document, and a Secret for
//! each profile. Each object has its own watch, so that rights to these objects alone are enough.
//! An object that cannot be read now keeps its last content. The last good copy on disk serves
//! while the API server does not answer.

mod cache;
mod client;
mod known;
mod reference;
mod secrets;
mod watch;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, Client};
use thiserror::Error;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, timeout_at};

use crate::boxed::BoxFuture;
use crate::data_plane::DataPlane;
use crate::snapshot::Snapshot;
use cache::Cache;
pub use client::Error as ClientError;
#[cfg(feature = "adaptor")]
pub(crate) use client::connect;
use known::Known;
pub use reference::ConfigMapRef;
use watch::{Watch, Watched};

/// How long a new document waits for the first answer about the Secrets that it names, so that entries that are about to have
/// them are not reported as failed.
const FIRST_ANSWER: Duration = Duration::from_secs(2);

/// Reason why the source cannot be created.
#[derive(Debug, Error)]
pub enum Error {
    /// It is not known which API server is meant, or how to speak to it.
    #[error("cannot use the API server")]
    Client(#[source] ClientError),
    /// The last good copy cannot be kept there.
    #[error("cannot use {} for the last good copy", crate::plain::path(path))]
    Cache {
        /// The directory.
        path: std::path::PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// A namespace with a configuration.
pub struct Namespace {
    client: Client,
    config_map: ConfigMapRef,
    cache: Option<Cache>,
}

/// News about one object.
#[derive(Debug)]
enum News {
    Document(Watched<ConfigMap>),
    Secret(String, Watched<Secret>),
}

impl Namespace {
    /// Connects to the API server of the Pod's service account, or of KUBECONFIG. Sends no request
    /// yet.
    ///
    /// # Errors
    /// Returns an error if neither exists, or if this directory cannot hold a copy.
    pub async fn connect(config_map: ConfigMapRef, cache: Option<&Path>) -> Result<Self, Error> {
        let client = client::connect().await.map_err(Error::Client)?;
        let cache = cache.map(|path| {
            Cache::in_directory(path).map_err(|source| Error::Cache {
                path: path.to_owned(),
                source,
            })
        });
        Ok(Self {
            client,
            config_map,
            cache: cache.transpose()?,
        })
    }

    /// With this API server, and without a copy.
    pub fn with_client(client: Client, config_map: ConfigMapRef) -> Self {
        Self {
            client,
            config_map,
            cache: None,
        }
    }

    /// Keeps the data plane at the configuration in the namespace. Never returns.
    pub fn follow(self, plane: impl DataPlane) -> BoxFuture<'static, ()> {
        self.follow_shared(Arc::new(plane))
    }

    pub(super) fn follow_shared(self, plane: Arc<dyn DataPlane>) -> BoxFuture<'static, ()> {
        Box::pin(self.keep(plane))
    }

    async fn keep(self, router: Arc<dyn DataPlane>) {
        let copy = self.cache.as_ref().and_then(Cache::read);
        let known = Known::new(&self.config_map, copy).with_proxies(router.has_proxies());
        let mut follower = Follower {
            router,
            known,
            applied: None,
            saved: None,
            cache: self.cache,
        };
        let (sender, mut news) = unbounded_channel();
        let watches = Watches {
            client: self.client,
            config_map: self.config_map,
            sender,
            all: BTreeMap::new(),
        };
        follower.run(watches, &mut news).await;
    }
}

/// The watches of this moment, which send their news to one receiver.
struct Watches {
    client: Client,
    config_map: ConfigMapRef,
    sender: UnboundedSender<News>,
    all: BTreeMap<String, Watch>,
}

impl Watches {
    fn document(&self) -> Watch {
        let api: Api<ConfigMap> = Api::namespaced(self.client.clone(), &self.config_map.namespace);
        let sender = self.sender.clone();
        Watch::start(api, &self.config_map.name, move |watched| {
            // The receiver is gone at the end of the process.
            let _unheard = sender.send(News::Document(watched));
        })
    }

    fn secret(&self, name: &str) -> Watch {
        let api: Api<Secret> = Api::namespaced(self.client.clone(), &self.config_map.namespace);
        let (sender, of) = (self.sender.clone(), name.to_owned());
        Watch::start(api, name, move |watched| {
            let _unheard = sender.send(News::Secret(of.clone(), watched));
        })
    }

    /// Watches these Secrets and no others.
    fn secrets(&mut self, known: &mut Known) {
        let wanted = known.secrets();
        self.all.retain(|name, _| wanted.contains(name));
        for name in &wanted {
            if !self.all.contains_key(name) {
                self.all.insert(name.clone(), self.secret(name));
            }
        }
        known.keep_secrets(&wanted);
    }
}

struct Follower {
    router: Arc<dyn DataPlane>,
    known: Known,
    applied: Option<Snapshot>,
    saved: Option<cache::Copy>,
    cache: Option<Cache>,
}

impl Follower {
    async fn run(&mut self, mut watches: Watches, news: &mut UnboundedReceiver<News>) {
        // This also applies if the first answers contain an invalid pair: the kept files stay in
        // use.
        if let Some(kept) = self.known.snapshot() {
            self.router.remember(kept).await;
        }
        let _document = watches.document();
        let mut patience: Option<Instant> = None;
        loop {
            watches.secrets(&mut self.known);
            let waits = self.known.waits();
            let until = *patience.get_or_insert_with(|| Instant::now() + FIRST_ANSWER);
            if !waits || Instant::now() >= until {
                self.apply().await;
                patience = None;
            }
            let next = match patience {
                Some(until) => timeout_at(until, news.recv()).await.ok(),
                None => Some(news.recv().await),
            };
            match next {
                Some(None) => return,
                Some(Some(first)) => {
                    self.learn(first);
                    // All other news that is available by now is processed together.
                    while let Ok(more) = news.try_recv() {
                        self.learn(more);
                    }
                }
                None => {}
            }
        }
    }

    fn learn(&mut self, news: News) {
        match news {
            News::Document(watched) => self.known.document(watched),
            // One that is not watched any more may have been about to send.
            News::Secret(name, watched) => self.known.secret(&name, watched),
        }
    }

    async fn apply(&mut self) {
        let error = self.known.error().map(str::to_owned);
        if let Some(snapshot) = self.known.snapshot()
            && self.applied.as_ref() != Some(&snapshot)
        {
            self.router.apply(snapshot.clone()).await;
            self.applied = Some(snapshot);
            self.save().await;
        }
        if self.router.state().now().error != error {
            if let Some(error) = &error {
                tracing::warn!("{error}");
            }
            self.router.refuse(error);
        }
    }

    /// Saves the working configuration to disk.
    async fn save(&mut self) {
        let Some(cache) = &self.cache else {
            return;
        };
        let state = self.router.state().now();
        let copy = self.known.copy(&state);
        if copy.is_some() && copy != self.saved {
            match cache.write(copy.clone()).await {
                Ok(()) => self.saved = copy,
                Err(error) => tracing::warn!(%error, "cannot keep a copy of the configuration"),
            }
        }
    }
}

#[cfg(test)]
mod tests;
