//! Configuration from a namespace of Kubernetes: a ConfigMap with the document, and a Secret for each profile. One watch an object,
//! so that rights to these objects alone are enough. What cannot be read now stays as it was; the last good copy on disk serves
//! while the API server does not answer.

mod cache;
mod client;
mod known;
mod secrets;
mod watch;

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, Client};
use thiserror::Error;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, timeout_at};

use super::files::DOCUMENT;
use super::{Snapshot, carry_out};
use crate::router::Router;
use cache::Cache;
pub use client::Error as ClientError;
use known::Known;
use watch::{Seen, Watch};

/// How long a new document waits for the first answer about the Secrets that it names, so that entries that are about to have
/// them are not told as failed.
const FIRST_ANSWER: Duration = Duration::from_secs(2);

/// A ConfigMap, as the command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where it is, and the Secrets.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_name = |name: &str| {
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
            !name.is_empty() && name.bytes().all(allowed)
        };
        match text.split_once('/') {
            Some((namespace, name)) if is_name(namespace) && is_name(name) => Ok(Self {
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            }),
            Some(_) | None => Err("it is no NAMESPACE/CONFIGMAP".to_owned()),
        }
    }
}

/// Why there is no source.
#[derive(Debug, Error)]
pub enum Error {
    /// It is not known which API server is meant, or how to speak to it.
    #[error("cannot use the API server")]
    Client(#[source] ClientError),
    /// The last good copy has no place.
    #[error("cannot use {} for the last good copy", path.display())]
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
    place: Place,
    cache: Option<Cache>,
}

/// What was seen, and of what.
#[derive(Debug)]
enum News {
    Document(Seen<ConfigMap>),
    Secret(String, Seen<Secret>),
}

impl Namespace {
    /// With the API server of the Pod's service account, or of KUBECONFIG. Nothing is asked yet.
    ///
    /// # Errors
    /// Neither is there, or there can be no copy in this directory.
    pub async fn connect(place: Place, cache: Option<&Path>) -> Result<Self, Error> {
        let client = client::connect().await.map_err(Error::Client)?;
        let cache = cache.map(|path| {
            Cache::in_directory(path).map_err(|source| Error::Cache {
                path: path.to_owned(),
                source,
            })
        });
        Ok(Self {
            client,
            place,
            cache: cache.transpose()?,
        })
    }

    /// With this API server, and without a copy.
    pub fn with(client: Client, place: Place) -> Self {
        Self {
            client,
            place,
            cache: None,
        }
    }

    /// Keeps the router at what the namespace says, without end.
    pub async fn follow(self, router: Router) {
        let copy = self.cache.as_ref().and_then(Cache::read);
        let mut follower = Follower {
            router,
            known: Known::new(&self.place, copy),
            carried_out: None,
            saved: None,
            cache: self.cache,
        };
        let (said, mut news) = unbounded_channel();
        let watches = Watches {
            client: self.client,
            place: self.place,
            said,
            all: BTreeMap::new(),
        };
        follower.run(watches, &mut news).await;
    }
}

/// The watches of this moment, which tell their news to one place.
struct Watches {
    client: Client,
    place: Place,
    said: UnboundedSender<News>,
    all: BTreeMap<String, Watch>,
}

impl Watches {
    fn document(&self) -> Watch {
        let api: Api<ConfigMap> = Api::namespaced(self.client.clone(), &self.place.namespace);
        let said = self.said.clone();
        Watch::start(api, &self.place.name, move |seen| {
            // Nobody listens any more at the end of the process.
            let _unheard = said.send(News::Document(seen));
        })
    }

    fn secret(&self, name: &str) -> Watch {
        let api: Api<Secret> = Api::namespaced(self.client.clone(), &self.place.namespace);
        let (said, of) = (self.said.clone(), name.to_owned());
        Watch::start(api, name, move |seen| {
            let _unheard = said.send(News::Secret(of.clone(), seen));
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
    router: Router,
    known: Known,
    carried_out: Option<Snapshot>,
    saved: Option<cache::Copy>,
    cache: Option<Cache>,
}

impl Follower {
    async fn run(&mut self, mut watches: Watches, news: &mut UnboundedReceiver<News>) {
        let _document = watches.document();
        let mut patience: Option<Instant> = None;
        loop {
            watches.secrets(&mut self.known);
            let waits = self.known.waits();
            let until = *patience.get_or_insert_with(|| Instant::now() + FIRST_ANSWER);
            if !waits || Instant::now() >= until {
                self.carry_out().await;
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
                    // Whatever else is known by now goes along.
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
            News::Document(seen) => self.known.document(seen),
            // One that is not watched any more may have been about to tell.
            News::Secret(name, seen) => self.known.secret(&name, seen),
        }
    }

    async fn carry_out(&mut self) {
        let error = self.known.error().map(str::to_owned);
        if let Some(snapshot) = self.known.snapshot()
            && self.carried_out.as_ref() != Some(&snapshot)
        {
            carry_out(&self.router, &snapshot).await;
            self.carried_out = Some(snapshot);
            self.save().await;
        }
        if self.router.board().now().error != error {
            if let Some(error) = &error {
                tracing::warn!("{error}");
            }
            self.router.refuse(error);
        }
    }

    /// Keeps what works on disk.
    async fn save(&mut self) {
        let Some(cache) = &self.cache else {
            return;
        };
        let state = self.router.board().now();
        let copy = self.known.copy(&state);
        if copy.is_some() && copy != self.saved {
            match cache.write(copy.clone()).await {
                Ok(()) => self.saved = copy,
                Err(error) => tracing::warn!(%error, "cannot keep a copy of the configuration"),
            }
        }
    }
}
