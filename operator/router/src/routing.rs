//! Targets of a routing key, and the records that a choice needs: open streams, turns, recent
//! refusals. Targets of this site cost nothing. Targets of another site cost as much as the route
//! to it.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::choose::{TargetRank, choose};
use crate::config::{Connector, Host};
use crate::link::announcement::{Key, SiteId};
use crate::link::node::Node;
use crate::tls;

/// Time for which a target that refused is tried last.
pub const AVOIDED: Duration = Duration::from_secs(5);

/// Time for which a resolved name is valid.
const RESOLVED: Duration = Duration::from_secs(1);

/// Destination of a stream.
#[derive(Debug)]
pub struct Target {
    /// The name of the entry that it comes from, or the id of the site.
    pub name: Arc<str>,
    /// Place that the target leads to.
    pub place: Destination,
    /// Cancelled when the entry is gone, or the site has no way or no such key any more.
    pub gone: CancellationToken,
    key: String,
    books: Mutex<Books>,
}

/// Kind of destination at a target.
pub enum Destination {
    /// A server that is connected to from here.
    Server(ServerAddress),
    /// Another site that has servers of the key.
    Site {
        /// The router's part of the network.
        node: Node,
        /// The site.
        site: SiteId,
        /// The routing key.
        key: Key,
    },
}

impl std::fmt::Debug for Destination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Server(server) => server.fmt(f),
            Self::Site { site, .. } => write!(f, "site {site}"),
        }
    }
}

/// A check of a target that goes on without clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Its host resolves.
    Name,
    /// Its server can be connected to.
    Server,
}

/// Address of a server, and the protocol to use with it.
#[derive(Debug)]
pub struct ServerAddress {
    /// Its host.
    pub host: Host,
    /// Its port.
    pub port: u16,
    /// How it is spoken to, if not in the clear.
    pub tls: Option<Security>,
    resolved: tokio::sync::Mutex<Option<Resolved>>,
}

/// Result of resolving the name of a host, with its time.
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
    /// True if the certificate must be valid for the host.
    pub verify_hostname: bool,
}

#[derive(Debug, Default)]
struct Books {
    cost: u64,
    open: usize,
    last: u64,
    avoided_until: Option<Instant>,
    trouble: Option<String>,
    unknown: Option<String>,
    down: Option<String>,
}

impl ServerAddress {
    /// An attempt to connect that failed, and the way to mend it.
    #[must_use]
    pub fn unreachable(&self, error: &io::Error) -> String {
        let (host, port) = (&self.host, self.port);
        format!(
            "cannot connect to {host}:{port}: {error}; start the server, or correct host and port"
        )
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
}

impl Target {
    /// The target of a connector of this site.
    pub fn new(name: &str, connector: &Connector, profile: Option<Arc<tls::Slot>>) -> Self {
        let tls = profile.map(|profile| Security {
            profile,
            verify_hostname: connector.verify_hostname,
        });
        let server = ServerAddress {
            host: connector.host.clone(),
            port: connector.port,
            tls,
            resolved: tokio::sync::Mutex::default(),
        };
        Self::for_destination(name, Destination::Server(server), &connector.key)
    }

    fn for_destination(name: &str, place: Destination, key: &str) -> Self {
        Self {
            name: name.into(),
            place,
            gone: CancellationToken::new(),
            key: key.to_owned(),
            books: Mutex::default(),
        }
    }

    /// The server, if it is one of this site.
    pub fn server(&self) -> Option<&ServerAddress> {
        match &self.place {
            Destination::Server(server) => Some(server),
            Destination::Site { .. } => None,
        }
    }

    fn is_site(&self, own: &Node, wanted: &SiteId) -> bool {
        match &self.place {
            Destination::Server(_) => false,
            Destination::Site { node, site, .. } => node.is(own) && site == wanted,
        }
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().expect("no holder of the books panics")
    }

    fn rank(&self, now: Instant) -> TargetRank {
        let books = self.books();
        TargetRank {
            avoided: books.avoided_until.is_some_and(|until| now < until),
            cost: books.cost,
            open: books.open,
            last: books.last,
        }
    }

    /// Records that the target refused now, with the reason. Returns true if that is news.
    pub fn refused(&self, why: &str) -> bool {
        let mut books = self.books();
        books.avoided_until = Some(Instant::now() + AVOIDED);
        let before = books.trouble.replace(why.to_owned());
        before.as_deref() != Some(why)
    }

    /// Records that the target answered. Returns true if that is news.
    pub fn record_success(&self) -> bool {
        let mut books = self.books();
        books.avoided_until = None;
        books.trouble.take().is_some()
    }

    /// Records the result of a check, `None` if it found no fault. Returns the previous result.
    pub fn found(&self, check: Check, fault: Option<String>) -> Option<String> {
        let mut books = self.books();
        let kept = match check {
            Check::Name => &mut books.unknown,
            Check::Server => &mut books.down,
        };
        std::mem::replace(kept, fault)
    }

    /// Why the server cannot be reached, as far as is known.
    pub fn fault(&self) -> Option<String> {
        let books = self.books();
        books.unknown.clone().or_else(|| books.down.clone())
    }

    /// The routing key.
    pub fn key(&self) -> &str {
        &self.key
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

/// Sites that have a key, with the cost of the path to each.
pub type Offers = BTreeMap<String, Vec<(SiteId, u64)>>;

/// Targets by routing key.
#[derive(Debug, Default)]
pub struct Routes {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    servers: BTreeMap<String, Vec<Arc<Target>>>,
    sites: BTreeMap<String, Vec<Arc<Target>>>,
    turn: u64,
}

impl Table {
    fn book<'t>(
        turn: &mut u64,
        all: impl Iterator<Item = &'t Arc<Target>>,
        tried: &[Arc<Target>],
    ) -> Option<Booked> {
        let now = Instant::now();
        let untried = all.filter(|target| !tried.iter().any(|tried| Arc::ptr_eq(tried, target)));
        let target = choose(untried.map(|target| (target, target.rank(now))))?.clone();
        *turn += 1;
        let mut books = target.books();
        books.open += 1;
        books.last = *turn;
        drop(books);
        Some(Booked(target))
    }
}

impl Routes {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().expect("no holder of the table panics")
    }

    /// Puts these targets of this site in the place of all before.
    pub fn set(&self, targets: impl IntoIterator<Item = Arc<Target>>) {
        let mut by_key: BTreeMap<String, Vec<Arc<Target>>> = BTreeMap::new();
        for target in targets {
            by_key.entry(target.key.clone()).or_default().push(target);
        }
        self.table().servers = by_key;
    }

    /// Replaces all other sites with these. Sites that stay keep their records. Streams that are
    /// open to a removed site are left alone: they last as long as their route.
    pub fn set_sites(&self, node: Option<&Node>, offers: Offers) {
        let mut table = self.table();
        let mut before = std::mem::take(&mut table.sites);
        for (key, sites) in offers {
            let (Some(node), Some(name)) = (node, Key::new(&key)) else {
                continue;
            };
            let mut old = before.remove(&key).unwrap_or_default();
            let targets = sites.into_iter().map(|(site, cost)| {
                let known = old.iter().position(|target| target.is_site(node, &site));
                let target = known.map_or_else(
                    || {
                        let (node, key) = (node.clone(), name.clone());
                        let place = Destination::Site {
                            node,
                            site: site.clone(),
                            key,
                        };
                        Arc::new(Target::for_destination(site.as_str(), place, name.as_str()))
                    },
                    |at| old.swap_remove(at),
                );
                target.books().cost = cost;
                target
            });
            let targets: Vec<Arc<Target>> = targets.collect();
            old.iter().for_each(|target| target.gone.cancel());
            table.sites.insert(key, targets);
        }
        let gone = before.values().flatten();
        gone.for_each(|target| target.gone.cancel());
    }

    /// Returns true if a key has a target.
    pub fn reachable(&self, key: &str) -> bool {
        let table = self.table();
        let has = |targets: &BTreeMap<String, Vec<_>>| {
            targets.get(key).is_some_and(|targets| !targets.is_empty())
        };
        has(&table.servers) || has(&table.sites)
    }

    /// The keys that this site has servers of.
    pub fn served(&self) -> Vec<String> {
        self.table().servers.keys().cloned().collect()
    }

    /// Chooses a target of the key for one more stream, none of those that were tried.
    pub fn book(&self, key: &str, tried: &[Arc<Target>]) -> Option<Booked> {
        let mut table = self.table();
        let Table {
            servers,
            sites,
            turn,
        } = &mut *table;
        let all = [servers.get(key), sites.get(key)];
        Table::book(turn, all.into_iter().flatten().flatten(), tried)
    }

    /// The same, but a server of this site.
    pub fn book_server(&self, key: &str, tried: &[Arc<Target>]) -> Option<Booked> {
        let mut table = self.table();
        let Table { servers, turn, .. } = &mut *table;
        Table::book(turn, servers.get(key)?.iter(), tried)
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
            has_pod: false,
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
