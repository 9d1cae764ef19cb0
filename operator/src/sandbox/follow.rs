//! Reports the progress of Listeners, Pods and the objects of sites, one line per change, until all
//! requested ones are Ready or run. States come from the reconciliations of the operator as they
//! decide. An object counts as Ready only when its status reports it.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use futures::stream::{BoxStream, select_all};
use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::{Event as CoreEvent, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::{ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use kube::runtime::watcher::{self, Event};
use kube::{Api, Client, ResourceExt};
use lifecycle_runtime::controller::{Passed, Trace, TraceEvent};
use lifecycle_runtime::machine::ir::Phase;
use lifecycle_simulator::world::Volumes;
use lifecycle_specs_listener::listener::{Listener, ListenerStatus};
use lifecycle_specs_skupper::Status;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::followed::{Followed, FollowedKind};
use super::sites::{ListenerEndpoint, Sites};
use super::{echo, mounted};
use lifecycle_cli::cluster::print_line;
use lifecycle_cli::passes;
use lifecycle_cli::updates::{Update, Updates, Verdict};
use lifecycle_runtime::cause;

/// Decision of a reconciliation, in one line.
#[derive(Debug)]
struct PassLine {
    of: Followed,
    phase: Phase,
    line: String,
}

/// Observes an operator that works.
struct Observer {
    heard: UnboundedSender<PassLine>,
    /// Maps a kind of this operator to the sort under which its objects are followed.
    sort: fn(&str) -> Option<FollowedKind>,
}

impl Trace for Observer {
    fn saw(&self, moment: &TraceEvent<'_>) {
        if let TraceEvent::Passed(passed) = moment
            && let Some(sort) = (self.sort)(&passed.object.kind)
        {
            // The receiver is gone once the sandbox ends.
            let _unheard = self.heard.send(pass_line(sort, passed));
        }
    }
}

/// Observers of the two operators.
pub(super) struct Observers {
    /// Of Listeners.
    pub(super) listeners: Arc<dyn Trace>,
    /// Of sites.
    pub(super) sites: Arc<dyn Trace>,
}

fn pass_line(sort: FollowedKind, passed: &Passed<'_>) -> PassLine {
    let (phase, line) = passes::describe_pass(passed);
    let name = passed.object;
    PassLine {
        of: Followed {
            sort,
            namespace: name.namespace.clone().unwrap_or_default(),
            name: name.name.clone(),
        },
        phase,
        line,
    }
}

/// The followed objects, and the last update that was printed for each.
pub(super) struct Follow {
    passes: UnboundedReceiver<PassLine>,
    volumes: Volumes,
    sites: Sites,
    updates: Updates<Followed>,
}

impl Follow {
    /// Follows all objects, and the observers to be given to the operators.
    pub(super) fn new(volumes: Volumes, sites: Sites) -> (Self, Observers) {
        let (heard, passes) = unbounded_channel();
        let follow = Self {
            passes,
            volumes,
            sites,
            updates: Updates::begin(),
        };
        let listener = |kind: &str| (kind == "Listener").then_some(FollowedKind::Listener);
        let observers = Observers {
            listeners: Arc::new(Observer {
                heard: heard.clone(),
                sort: listener,
            }),
            sites: Arc::new(Observer {
                heard,
                sort: FollowedKind::of_site,
            }),
        };
        (follow, observers)
    }

    /// Returns the address at which a Listener of a site is reachable.
    pub(super) async fn door(&self, client: &Client, of: &Followed) -> Option<ListenerEndpoint> {
        self.sites.door(client, (&of.namespace, &of.name)).await
    }

    /// Prints that an AccessToken is not applied yet.
    pub(super) fn note_waiting(&mut self, token: Followed) {
        let line = format!(
            "{:<12}  no AccessGrant with its code is Ready yet",
            "Waiting"
        );
        self.updates.record(token, Update { line, ready: false });
    }

    /// Reports the reconciliations of the operators so far.
    pub(super) fn catch_up(&mut self) {
        while let Ok(told) = self.passes.try_recv() {
            self.note_pass(told);
        }
    }

    /// Reports changes until all wanted objects are Ready, or the time is over.
    pub(super) async fn until_ready(
        &mut self,
        client: &Client,
        wanted: &[Followed],
        limit: Duration,
    ) -> anyhow::Result<Verdict> {
        if wanted.is_empty() {
            return Ok(Verdict::Ready);
        }
        match tokio::time::timeout(limit, self.follow(client, wanted)).await {
            Ok(done) => done.map(|()| Verdict::Ready),
            Err(_) => Ok(self.updates.late(wanted, limit)),
        }
    }

    /// Reports changes. Never returns.
    pub(super) async fn forever(&mut self, client: &Client) -> Infallible {
        // No object is awaited, so the loop continues whenever the watch ends.
        loop {
            if let Err(error) = self.follow(client, &[]).await {
                tracing::debug!("{error}");
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    async fn follow(&mut self, client: &Client, wanted: &[Followed]) -> anyhow::Result<()> {
        let config = watcher::Config::default;
        let listeners: Api<Listener> = Api::all(client.clone());
        let mut changes = pin!(watcher::watcher(listeners, config()));
        let pods: Api<Pod> = Api::all(client.clone());
        let mut pods = pin!(watcher::watcher(pods, config()));
        let events: Api<CoreEvent> = Api::all(client.clone());
        let mut events = pin!(watcher::watcher(events, config()));
        let of_sites = FollowedKind::OF_SITE.map(|kind| watched_of_site(client, kind));
        let mut of_sites = select_all(of_sites);
        loop {
            tokio::select! {
                biased;
                Some(told) = self.passes.recv() => self.note_pass(told),
                event = changes.try_next() => match event? {
                    Some(Event::Apply(listener) | Event::InitApply(listener)) => self.note_status(&listener),
                    Some(Event::Delete(listener)) => self.updates.gone(&key(&listener)),
                    Some(Event::Init | Event::InitDone) => {}
                    None => bail!("the API server ended the watch"),
                },
                change = of_sites.try_next() => match change? {
                    Some((kind, Event::Apply(object) | Event::InitApply(object))) => {
                        self.note_of_site(client, kind, &object).await;
                    }
                    Some((kind, Event::Delete(object))) => self.updates.gone(&named(FollowedKind::OfSite(kind), &object)),
                    Some((_, Event::Init | Event::InitDone)) => {}
                    None => bail!("the API server ended the watch"),
                },
                pod = pods.try_next() => match pod? {
                    Some(Event::Apply(pod) | Event::InitApply(pod)) => self.note_pod(client, &pod).await,
                    Some(Event::Delete(pod)) => self.updates.gone(&pod_key(&pod)),
                    Some(Event::Init | Event::InitDone) => {}
                    None => bail!("the API server ended the watch"),
                },
                event = events.try_next() => match event? {
                    Some(Event::Apply(event) | Event::InitApply(event)) => self.note_complaint(&event),
                    Some(Event::Delete(_) | Event::Init | Event::InitDone) => {}
                    None => bail!("the API server ended the watch"),
                },
            }
            if self.updates.are_ready(wanted) {
                return Ok(());
            }
        }
    }

    fn note_pass(&mut self, told: PassLine) {
        // The status of each of these kinds reports readiness with more detail than a
        // reconciliation: the address.
        self.updates.passed(told.of, (told.phase, told.line), true);
    }

    fn note_status(&mut self, listener: &Listener) {
        let status = listener.status.clone().unwrap_or_default();
        if is_ready(listener, &status) {
            let line = format!("{:<12}  at {}", "Ready", addresses(&status));
            self.updates.met(key(listener), line);
        } else {
            self.updates.unmet(&key(listener));
        }
    }

    /// Reports that an object of a site is Ready; for a Listener with its address, and with the
    /// result of the echo test.
    async fn note_of_site(&mut self, client: &Client, kind: &'static str, object: &DynamicObject) {
        let status: Status =
            serde_json::from_value(object.data["status"].clone()).unwrap_or_default();
        let of = named(FollowedKind::OfSite(kind), object);
        if !is_met(object.metadata.generation, status.conditions.as_ref()) {
            self.updates.unmet(&of);
            return;
        }
        let door = match kind {
            "Listener" => self.door(client, &of).await,
            _ => None,
        };
        let said = match door {
            Some(door) => format!("at {}", door.at),
            None => status.message.unwrap_or_default(),
        };
        let line = format!("{:<12}  {said}", "Ready").trim_end().to_owned();
        if self.updates.met(of, line)
            && let Some(door) = door.filter(|door| door.echoes)
        {
            print_line(&format!("{:14}{}", "", traffic(door.at).await));
        }
    }

    async fn note_pod(&mut self, client: &Client, pod: &Pod) {
        let (of, line) = (pod_key(pod), phase(pod));
        let ready = line.starts_with("Running") || line.starts_with("Succeeded");
        let known = self.updates.last(&of);
        let known = known.map(|said| (said.line.as_str(), said.ready));
        // A reported problem stays until the Pod runs.
        if known == Some((line.as_str(), ready)) || known.is_some() && line == "Pending" {
            return;
        }
        self.updates.record(of, Update { line, ready });
        if ready {
            for mounted in mounted::of_pod(client, &self.volumes, pod).await {
                print_line(&format!("{:14}{}", "", mounted.line()));
            }
        }
    }

    fn note_complaint(&mut self, event: &CoreEvent) {
        let Some((namespace, name, line)) = mounted::complaint(event) else {
            return;
        };
        let sort = FollowedKind::Pod;
        let of = Followed {
            sort,
            namespace,
            name,
        };
        if self.updates.last(&of).is_none_or(|said| !said.ready) {
            self.updates.record(of, Update { line, ready: false });
        }
    }
}

fn key(listener: &Listener) -> Followed {
    named(FollowedKind::Listener, listener)
}

fn pod_key(pod: &Pod) -> Followed {
    named(FollowedKind::Pod, pod)
}

fn named(sort: FollowedKind, object: &impl ResourceExt) -> Followed {
    Followed {
        sort,
        namespace: object.namespace().unwrap_or_default(),
        name: object.name_any(),
    }
}

/// Returns the phase of a Pod, and its node.
fn phase(pod: &Pod) -> String {
    let phase = pod
        .status
        .as_ref()
        .and_then(|status| status.phase.as_deref());
    let phase = phase.unwrap_or("Pending");
    let is_leaving = pod.metadata.deletion_timestamp.is_some();
    let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref());
    match (phase, node) {
        _ if is_leaving => "Terminating".to_owned(),
        ("Running", Some(node)) => format!("{phase:<12}  on {node}"),
        (phase, _) => phase.to_owned(),
    }
}

/// Changes of a kind of sites.
fn watched_of_site(
    client: &Client,
    kind: &'static str,
) -> BoxStream<'static, watcher::Result<(&'static str, Event<DynamicObject>)>> {
    let of = GroupVersionKind::gvk(lifecycle_specs_skupper::GROUP, "v2alpha1", kind);
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &ApiResource::from_gvk(&of));
    let changes = watcher::watcher(api, watcher::Config::default());
    changes.map_ok(move |event| (kind, event)).boxed()
}

/// Describes the reply from the address of a Listener.
async fn traffic(at: SocketAddr) -> String {
    match echo::converse(at).await {
        Ok(()) => format!(
            "{} random bytes came back from {at} as they were sent; try it: nc {} {}",
            echo::BYTES,
            at.ip(),
            at.port()
        ),
        Err(lost) => cause::in_one_line(&lost),
    }
}

/// Returns true if the status reports Ready for the current generation.
fn is_ready(listener: &Listener, status: &ListenerStatus) -> bool {
    is_met(listener.metadata.generation, status.conditions.as_ref())
}

fn is_met(current: Option<i64>, conditions: Option<&Vec<Condition>>) -> bool {
    let ready = |condition: &Condition| {
        (condition.type_.as_str(), condition.status.as_str()) == ("Ready", "True")
            && condition.observed_generation == current
    };
    conditions.into_iter().flatten().any(ready)
}

fn addresses(status: &ListenerStatus) -> String {
    let addresses = status.ingress_addresses.iter().flatten();
    let each = addresses.flat_map(|ingress| {
        ingress
            .ports
            .values()
            .map(move |port| format!("{}:{port}", ingress.address))
    });
    each.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn listener(status: &Value) -> Listener {
        let listener = json!({
            "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
            "metadata": { "name": "a", "namespace": "d", "generation": 2 }, "spec": {}, "status": status,
        });
        serde_json::from_value(listener).unwrap()
    }

    fn status(ready: &str, generation: i64) -> Value {
        json!({
            "conditions": [{ "type": "Ready", "status": ready, "reason": "R", "message": "", "observedGeneration": generation,
                             "lastTransitionTime": "2024-01-01T00:00:00Z" }],
            "ingressAddresses": [{ "address": "a.svc", "addressType": "Hostname", "ports": { "http": 80, "x": 81 } }],
        })
    }

    fn followed_listener(name: &str) -> Followed {
        Followed {
            sort: FollowedKind::Listener,
            namespace: "d".to_owned(),
            name: name.to_owned(),
        }
    }

    fn follow() -> (Follow, Observers) {
        let sites = Sites::new([127, 0, 0, 1].into(), None);
        Follow::new(Volumes::inside("nowhere"), sites)
    }

    #[test]
    fn only_a_status_of_the_present_generation_makes_it_ready() {
        let (mut follow, _) = follow();
        for stale in [status("True", 1), status("False", 2), json!({})] {
            follow.note_status(&listener(&stale));
            assert_eq!(
                follow.updates.last(&followed_listener("a")),
                None,
                "{stale}"
            );
        }
        follow.note_status(&listener(&status("True", 2)));
        assert_eq!(
            follow.updates.last(&followed_listener("a")),
            Some(&Update {
                line: "Ready         at a.svc:80, a.svc:81".to_owned(),
                ready: true
            })
        );
    }
}
