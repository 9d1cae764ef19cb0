//! Which targets a routing key has, and the books that a choice needs: open streams, turns, recent refusals.
//! Targets of this site cost nothing; what other sites offer will come in here with its cost.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::choose::{TargetRank, choose};
use crate::config::{Connector, Host};
use crate::tls;

/// How long a target that refused is asked last.
pub const AVOIDED: Duration = Duration::from_secs(5);

/// How long a name means what it was found to mean.
const RESOLVED: Duration = Duration::from_secs(1);

/// Where a stream can go.
#[derive(Debug)]
pub struct Target {
    /// The name of the entry that it comes from.
    pub name: Arc<str>,
    /// The host of the server.
    pub host: Host,
    /// Its port.
    pub port: u16,
    /// How the server is spoken to, if not in the clear.
    pub tls: Option<Security>,
    /// Cancelled when the entry is gone.
    pub gone: CancellationToken,
    key: String,
    cost: u32,
    books: Mutex<Books>,
    resolved: tokio::sync::Mutex<Option<Resolved>>,
}

/// What the name of a host was found to mean, and when.
#[derive(Debug)]
struct Resolved {
    at: Instant,
    found: Result<Vec<SocketAddr>, String>,
}

/// TLS towards a server.
#[derive(Debug)]
pub struct Security {
    /// The profile.
    pub profile: Arc<tls::Slot>,
    /// Whether the certificate must be for the host.
    pub verify_hostname: bool,
}

#[derive(Debug, Default)]
struct Books {
    open: usize,
    last: u64,
    avoided_until: Option<Instant>,
    trouble: Option<String>,
    unknown: Option<String>,
}

impl Target {
    /// The target of a connector of this site.
    pub fn new(name: &str, connector: &Connector, profile: Option<Arc<tls::Slot>>) -> Self {
        let tls = profile.map(|profile| Security {
            profile,
            verify_hostname: connector.verify_hostname,
        });
        Self {
            name: name.into(),
            host: connector.host.clone(),
            port: connector.port,
            tls,
            gone: CancellationToken::new(),
            key: connector.key.clone(),
            cost: 0,
            books: Mutex::default(),
            resolved: tokio::sync::Mutex::default(),
        }
    }

    /// The addresses of the host. However many ask for a name, it is looked up once a second.
    ///
    /// # Errors
    /// The name does not resolve.
    pub async fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        if let Host::Address(address) = &self.host {
            return Ok(vec![SocketAddr::new(*address, self.port)]);
        }
        let mut resolved = self.resolved.lock().await;
        let known = resolved
            .take()
            .filter(|known| known.at.elapsed() < RESOLVED);
        let known = match known {
            Some(known) => known,
            None => {
                let found = self.host.resolve(self.port).await;
                Resolved {
                    at: Instant::now(),
                    found: found.map_err(|error| error.to_string()),
                }
            }
        };
        let found = known.found.clone();
        *resolved = Some(known);
        found.map_err(io::Error::other)
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().expect("no holder of the books panics")
    }

    fn rank(&self, now: Instant) -> TargetRank {
        let books = self.books();
        TargetRank {
            avoided: books.avoided_until.is_some_and(|until| now < until),
            cost: self.cost,
            open: books.open,
            last: books.last,
        }
    }

    /// Takes note that the target refused, now, and why. Tells whether that is news.
    pub fn refused(&self, why: &str) -> bool {
        let mut books = self.books();
        books.avoided_until = Some(Instant::now() + AVOIDED);
        let before = books.trouble.replace(why.to_owned());
        before.as_deref() != Some(why)
    }

    /// Takes note that the target answered. Tells whether that is news.
    pub fn answered(&self) -> bool {
        let mut books = self.books();
        books.avoided_until = None;
        books.trouble.take().is_some()
    }

    /// Takes note of why the name of the host means nothing, or that it does mean something. Returns what was known before.
    pub fn found(&self, unknown: Option<String>) -> Option<String> {
        std::mem::replace(&mut self.books().unknown, unknown)
    }

    /// Why the name of the host means nothing, as far as is known.
    pub fn unknown(&self) -> Option<String> {
        self.books().unknown.clone()
    }

    /// Streams that are open to it.
    pub fn open(&self) -> usize {
        self.books().open
    }
}

/// One stream in the books of its target, until it is dropped.
#[derive(Debug)]
pub struct Booked(pub Arc<Target>);

impl Drop for Booked {
    fn drop(&mut self) {
        self.0.books().open -= 1;
    }
}

/// Targets by routing key.
#[derive(Debug, Default)]
pub struct Routes {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    targets: BTreeMap<String, Vec<Arc<Target>>>,
    turn: u64,
}

impl Routes {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().expect("no holder of the table panics")
    }

    /// Puts these targets in the place of all before.
    pub fn set(&self, targets: impl IntoIterator<Item = Arc<Target>>) {
        let mut by_key: BTreeMap<String, Vec<Arc<Target>>> = BTreeMap::new();
        for target in targets {
            by_key.entry(target.key.clone()).or_default().push(target);
        }
        self.table().targets = by_key;
    }

    /// Whether a key has a target.
    pub fn reachable(&self, key: &str) -> bool {
        self.table().targets.contains_key(key)
    }

    /// Chooses a target of the key for one more stream, none of those that were tried.
    pub fn book(&self, key: &str, tried: &[Arc<Target>]) -> Option<Booked> {
        let mut table = self.table();
        let now = Instant::now();
        let untried = table
            .targets
            .get(key)?
            .iter()
            .filter(|target| !tried.iter().any(|tried| Arc::ptr_eq(tried, target)));
        let target = choose(untried.map(|target| (target, target.rank(now))))?.clone();
        table.turn += 1;
        let mut books = target.books();
        books.open += 1;
        books.last = table.turn;
        drop(books);
        Some(Booked(target))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(name: &str, key: &str) -> Arc<Target> {
        let connector = Connector {
            host: Host::Name("somewhere".to_owned()),
            port: 1,
            key: key.to_owned(),
            profile: None,
            verify_hostname: true,
        };
        Arc::new(Target::new(name, &connector, None))
    }

    #[tokio::test(start_paused = true)]
    async fn who_refused_is_asked_last_for_five_seconds() {
        let routes = Routes::default();
        let (a, b) = (target("a", "k"), target("b", "k"));
        routes.set([a.clone(), b.clone()]);
        assert!(a.refused("because") && !a.refused("because"));
        for _ in 0..4 {
            assert_eq!(&*routes.book("k", &[]).unwrap().0.name, "b");
        }
        let held = routes.book("k", std::slice::from_ref(&b)).unwrap();
        assert_eq!(&*held.0.name, "a", "there is no other");
        drop(held);
        tokio::time::advance(AVOIDED).await;
        let names: Vec<_> = (0..4)
            .map(|_| routes.book("k", &[]).unwrap().0.name.clone())
            .collect();
        assert_eq!(names.iter().filter(|name| &***name == "a").count(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn streams_are_in_the_books_until_they_end() {
        let routes = Routes::default();
        let a = target("a", "k");
        routes.set([a.clone(), target("b", "other")]);
        let held = [routes.book("k", &[]), routes.book("k", &[])];
        assert_eq!(a.open(), 2);
        drop(held);
        assert_eq!(a.open(), 0);
        assert!(routes.reachable("other") && !routes.reachable("none"));
        assert!(routes.book("none", &[]).is_none());
        assert!(routes.book("k", &[a]).is_none(), "it was tried");
    }
}
