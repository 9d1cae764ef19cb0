//! Course of each subject on a server of its own: Listeners are made, left alone, given another
//! class, and found again by a new process.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Service;
use kube::api::{Patch, PatchParams, PostParams};
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, ResourceExt};
use lifecycle_specs_listener::listener::{AddressType, Listener, ListenerPort, ListenerSpec};
use lifecycle_specs_listener::listener_class::{ListenerClass, ListenerClassSpec, ServiceType};
use serde_json::json;

use super::place::BenchServer;
use super::process::Running;
use super::subject::Subject;

const CLASS: &str = "inside";
/// As many as are made at once.
const AT_ONCE: usize = 16;
/// Duration without requests after which a subject counts as settled.
const QUIET: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(300);

/// Cost of one phase for the process, and its duration.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// Requests, watches included.
    pub(crate) requests: f64,
    /// Seconds of processor time.
    pub(crate) cpu: f64,
    /// Seconds until all was as it should be.
    pub(crate) time: f64,
}

/// The phases in their order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Course {
    pub(crate) creation: Cost,
    /// `None` where it was left out.
    pub(crate) settled: Option<Cost>,
    pub(crate) change: Cost,
    pub(crate) restart: Cost,
}

/// Goes through all of it.
///
/// # Errors
/// A server fails, or not all becomes as it should be.
pub(crate) async fn run(
    place: &BenchServer,
    subject: Subject,
    many: usize,
    settled: Option<Duration>,
) -> Result<Course> {
    let classes: Api<ListenerClass> = Api::all(place.client.clone());
    let class = ListenerClass::new(CLASS, ListenerClassSpec::new(ServiceType::ClusterIP));
    classes.create(&PostParams::default(), &class).await?;
    let mut process = Running::start(subject, &place.kubeconfig)?;
    at_rest(place).await?;

    let meter = Meter::read(place, &process).await?;
    let reached = reached(place, many, AddressType::Hostname);
    let (reached, ()) = futures::future::try_join(reached, make(place, many)).await?;
    let creation = meter.until(place, &process, reached).await?;

    let settled = match settled {
        None => None,
        Some(time) => {
            let meter = Meter::read(place, &process).await?;
            tokio::time::sleep(time).await;
            Some(meter.now(place, &process).await?)
        }
    };

    let meter = Meter::read(place, &process).await?;
    let spec = json!({ "serviceAnnotations": { "a": "b" }, "preferredAddressType": "IP" });
    let patch = Patch::Merge(json!({ "spec": spec }));
    let change = async {
        let patched = classes.patch(CLASS, &PatchParams::default(), &patch).await;
        patched.map(drop).context("cannot change the class")
    };
    let reached = self::reached(place, many, AddressType::IP);
    let (reached, ()) = futures::future::try_join(reached, change).await?;
    let change = meter.until(place, &process, reached).await?;
    ensure_annotated(place, many).await?;

    drop(process);
    let before = Meter::nothing(place).await?;
    process = Running::start(subject, &place.kubeconfig)?;
    let last = at_rest(place).await?;
    let restart = before.until_moment(place, &process, last).await?;
    Ok(Course {
        creation,
        settled,
        change,
        restart,
    })
}

async fn make(place: &BenchServer, many: usize) -> Result<()> {
    let listeners: Api<Listener> = Api::namespaced(place.client.clone(), "default");
    let make = |number| {
        let listeners = listeners.clone();
        async move {
            let params = PostParams::default();
            let made = listeners.create(&params, &listener(number)).await;
            made.map(drop).context("cannot make a Listener")
        }
    };
    let made = stream::iter(0..many).map(make).buffer_unordered(AT_ONCE);
    made.try_collect().await
}

fn listener(number: usize) -> Listener {
    let port = |name: &str, port| ListenerPort {
        name: name.to_owned(),
        port,
        protocol: None,
    };
    let spec = ListenerSpec {
        class_name: Some(CLASS.to_owned()),
        ports: Some(vec![port("http", 8080), port("https", 8443)]),
        ..ListenerSpec::default()
    };
    Listener::new(&format!("web-{number:05}"), spec)
}

/// Returns the time at which the last of this many Listeners reported such an address.
async fn reached(place: &BenchServer, many: usize, kind: AddressType) -> Result<Instant> {
    let listeners: Api<Listener> = Api::namespaced(place.client.clone(), "default");
    let config = watcher::Config::default().streaming_lists();
    let mut seen = watcher(listeners, config).boxed();
    let mut there = BTreeSet::new();
    let wait = async {
        while let Some(event) = seen.try_next().await? {
            if let Event::Apply(listener) | Event::InitApply(listener) = event
                && has_address(&listener, kind)
            {
                there.insert(listener.name_any());
            }
            if there.len() == many {
                return Ok(Instant::now());
            }
        }
        bail!("the watch ended")
    };
    let waited = tokio::time::timeout(PATIENCE, wait).await;
    waited.with_context(|| format!("not all {many} have an address of kind {kind:?}"))?
}

fn has_address(listener: &Listener, kind: AddressType) -> bool {
    let status = listener.status.as_ref();
    let addresses = status.and_then(|status| status.ingress_addresses.as_ref());
    let mut addresses = addresses.into_iter().flatten();
    addresses.any(|one| one.address_type == kind)
}

/// Checks the Services, which are written before their address is reported.
async fn ensure_annotated(place: &BenchServer, many: usize) -> Result<()> {
    let services: Api<Service> = Api::namespaced(place.client.clone(), "default");
    let all = services.list(&Default::default()).await?.items;
    let annotated = all.iter().filter(|one| one.annotations().contains_key("a"));
    let annotated = annotated.count();
    ensure!(
        annotated == many,
        "{annotated} of {many} Services are annotated"
    );
    Ok(())
}

/// Waits until requests stop, and returns the time of the last one.
async fn at_rest(place: &BenchServer) -> Result<Timestamp> {
    let began = Instant::now();
    let mut seen = (0, Instant::now());
    loop {
        tokio::time::sleep(Duration::from_millis(250)).await;
        let asked = place.request_times().await?;
        if asked.len() != seen.0 {
            seen = (asked.len(), Instant::now());
        }
        if let Some(last) = asked.last()
            && seen.1.elapsed() >= QUIET
        {
            return Ok(*last);
        }
        ensure!(began.elapsed() < PATIENCE, "the object never settles");
    }
}

/// Usage up to a moment.
struct Meter {
    requests: usize,
    cpu: Duration,
    at: Instant,
    moment: Timestamp,
}

impl Meter {
    async fn read(place: &BenchServer, process: &Running) -> Result<Self> {
        let mut meter = Self::nothing(place).await?;
        meter.cpu = process.cpu()?;
        Ok(meter)
    }

    /// Returns the cost before the process starts.
    async fn nothing(place: &BenchServer) -> Result<Self> {
        Ok(Self {
            requests: place.request_times().await?.len(),
            cpu: Duration::ZERO,
            at: Instant::now(),
            moment: Timestamp::now(),
        })
    }

    async fn now(&self, place: &BenchServer, process: &Running) -> Result<Cost> {
        #[allow(clippy::cast_precision_loss, reason = "far below 2^52")]
        let requests = (place.request_times().await?.len() - self.requests) as f64;
        Ok(Cost {
            requests,
            cpu: (process.cpu()? - self.cpu).as_secs_f64(),
            time: self.at.elapsed().as_secs_f64(),
        })
    }

    /// Returns the cost of a phase that reached its goal at this time. Later work that follows from
    /// it counts as well.
    async fn until(
        &self,
        place: &BenchServer,
        process: &Running,
        reached: Instant,
    ) -> Result<Cost> {
        at_rest(place).await?;
        let time = (reached - self.at).as_secs_f64();
        let cost = self.now(place, process).await?;
        Ok(Cost { time, ..cost })
    }

    async fn until_moment(
        &self,
        place: &BenchServer,
        process: &Running,
        last: Timestamp,
    ) -> Result<Cost> {
        let time = last.duration_since(self.moment).as_secs_f64();
        let cost = self.now(place, process).await?;
        Ok(Cost { time, ..cost })
    }
}
