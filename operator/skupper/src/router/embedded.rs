//! Routers in this process: one for each Site with a running Pod. Each gets the objects that the
//! router in that Pod would read, and is queried without a socket. Independent of Sites and
//! Listeners: Pods determine the running routers.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, ResourceExt};
use lifecycle_router::router::{Options, Router};
use lifecycle_router::run::bounded;
use lifecycle_router::source::kubernetes::{ConfigMapRef, Namespace};
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_specs_skupper::router::{ROUTER, RouterState, SITE};
use tokio::task::{JoinHandle, JoinSet};

use super::state::{Routers, reported};
use lifecycle_runtime::cause;

/// Addresses on which routers listen for listeners without a host, and the terms on which routers
/// end.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The address of the first router, and the next ones for others; absent for all addresses.
    pub address: Option<IpAddr>,
    /// How long open connections may go on once a router ends.
    pub grace: Duration,
}

/// The routers of this process; clones are the same.
#[derive(Clone)]
pub struct Embedded(Arc<RouterPool>);

struct RouterPool {
    settings: Settings,
    /// By the uid of the Site.
    seats: Mutex<BTreeMap<String, Seat>>,
}

/// A router that runs.
struct Seat {
    number: u8,
    router: Router,
    following: JoinHandle<()>,
}

/// Pods by namespace and name.
type Pods = BTreeMap<(String, String), Pod>;

impl Embedded {
    /// None runs yet.
    pub fn new(settings: Settings) -> Self {
        let seats = Mutex::default();
        Self(Arc::new(RouterPool { settings, seats }))
    }

    /// Returns the address on which the router of a Site listens for listeners without a host.
    /// Absent if the router does not run, or listens at all addresses.
    pub fn address(&self, site: &str) -> Option<IpAddr> {
        let number = self.seats().get(site)?.number;
        self.address_of(number)
    }

    /// The router of a Site, if it runs.
    pub fn router(&self, site: &str) -> Option<Router> {
        self.seats().get(site).map(|seat| seat.router.clone())
    }

    /// Runs a router for each Site that Pods name, until shutdown. Then all routers end, within
    /// their grace. A router reads only through the client that `reader` returns for its Pod.
    pub async fn run(
        &self,
        client: Client,
        reader: impl Fn(&Pod) -> Client,
        mut shutdown: Shutdown,
    ) {
        let mut ending = JoinSet::new();
        tokio::select! {
            biased;
            () = shutdown.wait() => {}
            () = self.follow(client, reader, &mut ending) => {}
        }
        self.keep(&BTreeMap::new(), &mut ending);
        ending.join_all().await;
    }

    async fn follow(
        &self,
        client: Client,
        reader: impl Fn(&Pod) -> Client,
        ending: &mut JoinSet<()>,
    ) {
        let of_sites = watcher::Config::default().labels(SITE);
        let changes = watcher(Api::<Pod>::all(client), of_sites).default_backoff();
        let mut changes = pin!(changes);
        let (mut pods, mut listed) = (Pods::new(), None);
        loop {
            match changes.next().await {
                None => return,
                Some(Err(error)) => {
                    tracing::warn!("Pods of routers: {}", cause::in_one_line(&error))
                }
                Some(Ok(event)) => learn(event, &mut pods, &mut listed),
            }
            if listed.is_none() {
                let wanted = running_pods(&pods);
                self.keep(&wanted, ending);
                self.start(&wanted, &reader);
            }
            while ending.try_join_next().is_some() {}
        }
    }

    /// Ends the routers of other Sites than these.
    fn keep(&self, wanted: &BTreeMap<&str, &Pod>, ending: &mut JoinSet<()>) {
        let mut seats = self.seats();
        let gone: Vec<String> = seats
            .keys()
            .filter(|site| !wanted.contains_key(site.as_str()))
            .cloned()
            .collect();
        for seat in gone.iter().filter_map(|site| seats.remove(site)) {
            seat.following.abort();
            let grace = self.0.settings.grace;
            let open = seat.router.open();
            if open > 0 && !grace.is_zero() {
                let seconds = grace.as_secs();
                tracing::info!("a router leaves its {open} open connections {seconds} s to end");
            }
            ending.spawn(async move {
                let aborted = seat.router.stop(grace).await;
                tracing::info!(aborted, "a router stopped");
            });
        }
    }

    fn start(&self, wanted: &BTreeMap<&str, &Pod>, reader: impl Fn(&Pod) -> Client) {
        let mut seats = self.seats();
        for (site, pod) in wanted {
            if seats.contains_key(*site) {
                continue;
            }
            let is_free = |number: &u8| seats.values().all(|seat| seat.number != *number);
            let Some(number) = (0..=u8::MAX).find(is_free) else {
                tracing::warn!("no more than 256 routers run in one process");
                return;
            };
            let router = Router::new(bounded(Options {
                bind_address: self.address_of(number),
                ..Options::default()
            }));
            let place = ConfigMapRef {
                namespace: pod.namespace().unwrap_or_default(),
                name: ROUTER.to_owned(),
            };
            let source = Namespace::with_client(reader(pod), place);
            let following = tokio::spawn(source.follow(router.clone()));
            let seat = Seat {
                number,
                router,
                following,
            };
            seats.insert((*site).to_owned(), seat);
        }
    }

    fn address_of(&self, number: u8) -> Option<IpAddr> {
        nth_address(self.0.settings.address?, number)
    }

    fn seats(&self) -> MutexGuard<'_, BTreeMap<String, Seat>> {
        let seats = self.0.seats.lock();
        seats.unwrap_or_else(PoisonError::into_inner)
    }
}

/// The address of a router by its number, where `first` is that of the first one.
pub fn nth_address(first: IpAddr, number: u8) -> Option<IpAddr> {
    match first {
        IpAddr::V4(first) => {
            let next = u32::from(first).checked_add(number.into())?;
            Some(IpAddr::V4(next.into()))
        }
        // Loopback has only one IPv6 address.
        first @ IpAddr::V6(_) => Some(first),
    }
}

impl Routers for Embedded {
    async fn fetch_state(
        &self,
        pods: Vec<&Pod>,
        _: Vec<&ConfigMap>,
    ) -> Result<RouterState, CallError> {
        let site = pods.iter().find_map(|pod| pod.labels().get(SITE));
        match site.and_then(|site| self.router(site)) {
            Some(router) => Ok(reported(&router.state().now())),
            None => Err(CallError::Failed("its router does not run yet".to_owned())),
        }
    }
}

fn learn(event: Event<Pod>, pods: &mut Pods, listed: &mut Option<Pods>) {
    let key = |pod: &Pod| (pod.namespace().unwrap_or_default(), pod.name_any());
    match event {
        Event::Init => *listed = Some(Pods::new()),
        Event::InitApply(pod) => {
            let listed = listed.get_or_insert_default();
            listed.insert(key(&pod), pod);
        }
        Event::InitDone => *pods = listed.take().unwrap_or_default(),
        Event::Apply(pod) => drop(pods.insert(key(&pod), pod)),
        Event::Delete(pod) => drop(pods.remove(&key(&pod))),
    }
}

/// A Pod that runs, for each Site that has one.
fn running_pods(pods: &Pods) -> BTreeMap<&str, &Pod> {
    let running = |pod: &&Pod| {
        let phase = pod
            .status
            .as_ref()
            .and_then(|status| status.phase.as_deref());
        phase == Some("Running") && pod.metadata.deletion_timestamp.is_none()
    };
    let site = |pod| {
        let pod: &Pod = pod;
        Some((pod.labels().get(SITE)?.as_str(), pod))
    };
    pods.values().filter(running).filter_map(site).collect()
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use serde_json::json;

    use super::*;

    fn pod(name: &str, site: &str, phase: &str) -> Pod {
        let pod = json!({
            "metadata": { "name": name, "namespace": "d", "labels": { SITE: site } }, "status": { "phase": phase },
        });
        serde_json::from_value(pod).expect("it is a Pod")
    }

    #[test]
    fn a_site_has_a_router_while_one_of_its_pods_runs() {
        let (mut pods, mut listed) = (Pods::new(), None);
        let mut learn = |event| {
            learn(event, &mut pods, &mut listed);
            running_pods(&pods)
                .into_keys()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        learn(Event::Init);
        learn(Event::InitApply(pod("a", "west", "Running")));
        learn(Event::InitApply(pod("b", "east", "Pending")));
        assert_eq!(learn(Event::InitDone), ["west"]);
        assert_eq!(
            learn(Event::Apply(pod("b", "east", "Running"))),
            ["east", "west"]
        );
        learn(Event::Apply(pod("c", "west", "Running")));
        assert_eq!(
            learn(Event::Delete(pod("a", "west", "Running"))),
            ["east", "west"]
        );
        let mut going = pod("c", "west", "Running");
        going.metadata.deletion_timestamp =
            serde_json::from_value(json!("2026-01-01T00:00:00Z")).expect("it is a time");
        assert_eq!(learn(Event::Apply(going)), ["east"]);
        learn(Event::Init);
        assert!(learn(Event::InitDone).is_empty());
    }

    #[tokio::test]
    async fn routers_have_addresses_of_their_own() {
        let routers = Embedded::new(Settings {
            address: Some(Ipv4Addr::new(127, 0, 0, 255).into()),
            grace: Duration::ZERO,
        });
        let address = |number| routers.address_of(number).map(|ip| ip.to_string());
        assert_eq!(address(0).as_deref(), Some("127.0.0.255"));
        assert_eq!(address(1).as_deref(), Some("127.0.1.0"));
        assert_eq!(routers.address("west"), None);
        let west = pod("a", "west", "Running");
        let answer = routers.fetch_state(vec![&west], Vec::new()).await;
        assert!(matches!(answer, Err(CallError::Failed(why)) if why.contains("does not run")));
    }
}
