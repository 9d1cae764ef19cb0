//! Six sites in a ring with a chord, with a proxy on each link: the changes made to them, and the
//! expected reports of their routers.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use lifecycle_tests::eventually::eventually;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::authority::Authority;
use crate::network::{Site, link_port, link_to};
use crate::program::entry;
use crate::proxy::{Passage, Proxy};
use crate::support::{LIMIT, Server, connector, echo, listener, port};

pub(crate) const SITES: usize = 6;

/// Ends of each link; the first one dials.
const LINKS: [(usize, usize); 7] = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 3)];

/// Upper bound on the files that a router may have open at the end in addition to those at first:
/// the files of its observers.
const MORE_FILES: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    Runs,
    Frozen,
    Dead,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Certificate {
    Good,
    Expired,
    /// Of another authority, which is the only one that the site believes, too.
    Foreign,
}

pub(crate) struct Member {
    pub(crate) site: Site,
    pub(crate) health: Health,
    pub(crate) certificate: Certificate,
    server: Server,
    /// How many files its first process had open when all was well.
    files: usize,
    /// Run whose announcements were counted last, and the count.
    said: (Value, u64),
}

pub(crate) struct Link {
    pub(crate) ends: (usize, usize),
    pub(crate) proxy: Proxy,
}

impl Link {
    pub(crate) fn touches(&self, at: usize) -> bool {
        self.ends.0 == at || self.ends.1 == at
    }
}

pub(crate) struct Ring {
    pub(crate) members: Vec<Member>,
    pub(crate) links: Vec<Link>,
    authorities: [Authority; 2],
}

fn key(at: usize) -> String {
    format!("k{at}")
}

/// True of a site that has a Listener for the key of another one.
fn listens(at: usize, owner: usize) -> bool {
    at != owner && (at, owner) != (1, 4)
}

/// The port at which a site lets in clients for the key of another one.
pub(crate) fn port_of(owner: usize) -> u16 {
    port(u16::try_from(owner).unwrap())
}

impl Ring {
    /// All is well.
    pub(crate) async fn new() -> Self {
        let authorities = ["network", "another network"].map(Authority::new);
        let mut members = Vec::new();
        for at in 0..SITES {
            let site = Site::new(&format!("s{at}"), &authorities[0], &[]);
            let server = Server::serve_at(SocketAddr::new(site.address, 0), echo).await;
            members.push(Member {
                site,
                health: Health::Runs,
                certificate: Certificate::Good,
                server,
                files: 0,
                said: (Value::Null, 0),
            });
        }
        let mut links = Vec::new();
        for ends in LINKS {
            let target = SocketAddr::new(members[ends.1].site.address, link_port());
            let proxy = Proxy::to(target).await;
            links.push(Link { ends, proxy });
        }
        let mut ring = Self {
            members,
            links,
            authorities,
        };
        for at in 0..SITES {
            ring.members[at].site.apply(&ring.elements(at));
        }
        ring.settles("all is well at first").await;
        ring.becomes("nothing is open at first", async |at| ring.open(at).await)
            .await;
        for member in &mut ring.members {
            member.files = member.site.process.files();
        }
        ring
    }

    /// The configuration of a site: a connector of its own key, listeners of others, and the links that it dials.
    fn elements(&self, at: usize) -> Vec<Value> {
        let mut all = vec![connector("c", self.members[at].server.address, &key(at))];
        let heard = (0..SITES).filter(|owner| listens(at, *owner));
        all.extend(heard.map(|owner| listener(&format!("l{owner}"), port_of(owner), &key(owner))));
        let dialled = self.links.iter().filter(|link| link.ends.0 == at);
        all.extend(
            dialled.map(|link| link_to(&format!("to-s{}", link.ends.1), link.proxy.address)),
        );
        all
    }

    /// Has a certificate of this kind that is new, and uses it for all its links.
    pub(crate) async fn certify(&mut self, at: usize, certificate: Certificate) {
        let member = &mut self.members[at];
        let (authority, until) = match certificate {
            Certificate::Good => (&self.authorities[0], 4096),
            Certificate::Expired => (&self.authorities[0], 2000),
            Certificate::Foreign => (&self.authorities[1], 4096),
        };
        let site = &member.site;
        let pair = authority.issue_site_within(&site.id, site.address, [1975, until]);
        site.certify_with(authority, &pair);
        site.process.certified("net").await;
        let is_other = std::mem::replace(&mut member.certificate, certificate) != certificate;
        // Established links stay as they are, whatever is written.
        if is_other {
            let own = self.links.iter().filter(|link| link.touches(at));
            own.for_each(|link| link.proxy.cut());
        }
    }

    pub(crate) fn running(&self) -> Vec<usize> {
        let all = 0..SITES;
        all.filter(|at| self.members[*at].health == Health::Runs)
            .collect()
    }

    /// Returns the reason why a link cannot exist, in the words of the dialling router; empty if
    /// any message is accepted.
    fn fault(&self, link: &Link) -> Option<&'static str> {
        use Certificate::{Expired, Foreign, Good};
        let [from, to] = [link.ends.0, link.ends.1].map(|at| &self.members[at]);
        let runs = from.health == Health::Runs && to.health == Health::Runs;
        if !runs || !matches!(link.proxy.passage(), Passage::Open(_)) {
            return Some("");
        }
        match (from.certificate, to.certificate) {
            (Good, Good) | (Foreign, Foreign) => None,
            (Foreign, Expired) | (Expired, Foreign) => Some("certificate"),
            (Foreign, Good) | (Good, Foreign) => Some("certificates of one authority"),
            (Good | Expired, Expired) => Some("its certificate must be renewed"),
            (Expired, Good) => Some("our certificate has expired"),
        }
    }

    /// The links that are there.
    fn standing(&self) -> impl Iterator<Item = (usize, usize)> {
        let standing = self.links.iter().filter(|link| self.fault(link).is_none());
        standing.map(|link| link.ends)
    }

    /// Returns the reachable sites, including the own one.
    fn reached(&self, at: usize) -> BTreeSet<usize> {
        let mut reached = BTreeSet::from([at]);
        for _ in 0..SITES {
            for (a, b) in self.standing() {
                if reached.contains(&a) || reached.contains(&b) {
                    reached.extend([a, b]);
                }
            }
        }
        reached
    }

    /// The owners of the keys that a site lets in clients for.
    pub(crate) fn served(&self, at: usize) -> Vec<usize> {
        let reached = self.reached(at).into_iter();
        reached.filter(|owner| listens(at, *owner)).collect()
    }

    /// The report that a site has to give.
    fn expected(&self, at: usize) -> Value {
        let reached = self.reached(at);
        let operational = |from: usize| -> BTreeSet<String> {
            let dialled = self.standing().filter(|(dials, _)| *dials == from);
            dialled.map(|(_, to)| format!("to-s{to}")).collect()
        };
        let sites = reached
            .iter()
            .map(|at| (format!("s{at}"), operational(*at)));
        let keys = (0..SITES).map(|owner| {
            let listeners = reached.iter().filter(|at| listens(**at, owner)).count();
            (
                key(owner),
                [usize::from(reached.contains(&owner)), listeners],
            )
        });
        let links = self.links.iter().filter(|link| link.ends.0 == at);
        let links = links.map(|link| {
            let words = self.fault(link).unwrap_or("Up");
            (format!("to-s{}", link.ends.1), words)
        });
        let heard = (0..SITES).filter(|owner| listens(at, *owner));
        let listeners = heard.map(|owner| {
            let is_up = reached.contains(&owner);
            (format!("l{owner}"), if is_up { "Up" } else { "Idle" })
        });
        let peers = self.standing().filter(|(a, b)| *a == at || *b == at);
        json!({
            "sites": sites.collect::<BTreeMap<_, _>>(),
            "keys": keys.collect::<BTreeMap<_, _>>(),
            "links": links.collect::<BTreeMap<_, _>>(),
            "listeners": listeners.collect::<BTreeMap<_, _>>(),
            "peers": peers.count(),
        })
    }

    /// Returns the reported state of the same items. It uses the expected words where the report
    /// contains them.
    async fn reported(&self, at: usize, expected: &Value) -> Value {
        let process = &self.members[at].site.process;
        let state = process.until(|_| true).await;
        let sites = state["sites"].as_array().unwrap().iter().map(|site| {
            let links = site["links"].as_array().unwrap().iter();
            let links = links.filter(|link| link["operational"] == true);
            let names = links.map(|link| link["name"].as_str().unwrap());
            let names: BTreeSet<&str> = names.collect();
            (site["id"].as_str().unwrap(), names)
        });
        let keys = (0..SITES).map(|owner| {
            let counts = &state["keys"][key(owner)];
            let count = |side: &str| counts[side].as_u64().unwrap_or_default();
            (key(owner), [count("connectors"), count("listeners")])
        });
        let links = expected["links"].as_object().unwrap().iter();
        let links = links.map(|(name, words)| {
            let entry = entry(&state, name);
            let has_failed = entry["state"] == "Failed";
            let told = &entry[if has_failed { "message" } else { "state" }];
            let wanted = words.as_str().unwrap();
            let is_so = has_failed && wanted != "Up" && told.as_str().unwrap().contains(wanted);
            (name, if is_so { words } else { told })
        });
        let listeners = expected["listeners"].as_object().unwrap().keys();
        let listeners = listeners.map(|name| (name, &entry(&state, name)["state"]));
        json!({
            "sites": sites.collect::<BTreeMap<_, _>>(),
            "keys": keys.collect::<BTreeMap<_, _>>(),
            "links": links.collect::<BTreeMap<_, _>>(),
            "listeners": listeners.collect::<BTreeMap<_, _>>(),
            "peers": self.measured(at, "router_links_up").await,
        })
    }

    /// The sum of a metric of a router over all its labels.
    async fn measured(&self, at: usize, metric: &str) -> u64 {
        let text = self.members[at].site.process.get("/metrics").await;
        let values = text.lines().filter_map(|line| {
            let (name, value) = line.split_once(' ')?;
            (name.split('{').next()? == metric).then(|| value.parse::<u64>().unwrap())
        });
        values.sum()
    }

    /// The first fault in the report or the sockets of a router.
    async fn wrong(&self, at: usize) -> Option<String> {
        let expected = self.expected(at);
        let reported = self.reported(at, &expected).await;
        if reported != expected {
            return Some(format!("s{at} reports {reported}\ninstead of {expected}"));
        }
        let served = self.served(at);
        for owner in (0..SITES).filter(|owner| listens(at, *owner)) {
            let address = (self.members[at].site.address, port_of(owner));
            let is_bound = TcpStream::connect(address).await.is_ok();
            if is_bound != served.contains(&owner) {
                return Some(format!("s{at} has a socket of s{owner}: {is_bound}"));
            }
        }
        None
    }

    /// Waits until each running router reports the actual state, and accepts clients exactly for
    /// the reachable keys.
    pub(crate) async fn settles(&self, when: &str) {
        self.becomes(when, async |at| self.wrong(at).await).await;
    }

    /// The connections or streams that are open at a router.
    async fn open(&self, at: usize) -> Option<String> {
        for metric in ["router_connections_open", "router_link_streams_open"] {
            let open = self.measured(at, metric).await;
            if open > 0 {
                return Some(format!("s{at} has {metric} {open}"));
            }
        }
        None
    }

    /// Waits until nothing is open any more, and each router has as many files as at first.
    pub(crate) async fn wait_until_idle(&self) {
        let left = async |at: usize| {
            let open = self.open(at).await;
            let member = &self.members[at];
            let (now, first) = (member.site.process.files(), member.files);
            let files = || format!("s{at} has {now} files open, and had {first}");
            open.or_else(|| (now > first + MORE_FILES).then(files))
        };
        self.becomes("nothing is left over", left).await;
    }

    async fn becomes(&self, what: &str, wrong: impl AsyncFn(usize) -> Option<String>) {
        let seen = RefCell::new(String::new());
        let all_right = async || {
            for at in self.running() {
                if let Some(wrong) = wrong(at).await {
                    seen.replace(wrong);
                    return Ok(None);
                }
            }
            Ok(Some(()))
        };
        if let Err(missed) = eventually(what, LIMIT, all_right).await {
            panic!("{missed}: {}", seen.borrow());
        }
    }

    /// Returns the number of announcements by running routers since the last call.
    pub(crate) async fn new_announcements(&mut self) -> u64 {
        let mut more = 0;
        for at in self.running() {
            let state = self.members[at].site.process.until(|_| true).await;
            let now = self.measured(at, "router_link_announcements_total").await;
            let (run, before) = &self.members[at].said;
            more += if *run == state["instance"] {
                now - before
            } else {
                now
            };
            self.members[at].said = (state["instance"].clone(), now);
        }
        more
    }
}
