//! Listeners, Pods and the objects of sites, as the sandbox follows them, each until it is Ready or
//! runs. An object counts as Ready only if its status reports it.

use std::net::SocketAddr;

use k8s_openapi::api::core::v1::{Event, Pod};
use kube::api::{ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use kube::{Client, ResourceExt};
use lifecycle_cli::cluster::print_line;
use lifecycle_cli::follow::{self, Subjects};
use lifecycle_cli::passes::PassLine;
use lifecycle_cli::updates::{Update, Updates};
use lifecycle_runtime::cause;
use lifecycle_simulator::world::Volumes;
use lifecycle_specs_listener::listener::{Listener, ListenerStatus};
use lifecycle_specs_skupper::Status;

use super::followed::{Followed, FollowedKind};
use super::sites::{ListenerEndpoint, Sites};
use super::{echo, mounted};

/// How the path of each lifecycle of sites begins.
const OF_SITES: &str = "lifecycle_specs_skupper::";

/// Kinds before those of sites: Listener, Pod, and the event.
const BEFORE: usize = 3;

/// Everything that the sandbox follows.
pub(super) struct OfProducts {
    pub(super) volumes: Volumes,
    pub(super) sites: Sites,
}

impl Subjects for OfProducts {
    type Name = Followed;

    fn kinds(&self) -> Vec<ApiResource> {
        let of_site = |kind: &str| {
            let of = GroupVersionKind::gvk(lifecycle_specs_skupper::GROUP, "v2alpha1", kind);
            ApiResource::from_gvk(&of)
        };
        let first: [ApiResource; BEFORE] = [
            ApiResource::erase::<Listener>(&()),
            ApiResource::erase::<Pod>(&()),
            ApiResource::erase::<Event>(&()),
        ];
        first
            .into_iter()
            .chain(FollowedKind::OF_SITE.map(of_site))
            .collect()
    }

    fn name(&self, at: usize, object: &DynamicObject) -> Option<Followed> {
        Some(named(sort(at)?, object))
    }

    fn reconciled(&self, pass: &PassLine) -> Option<(Followed, bool)> {
        let sort = match pass.of.kind.as_str() {
            kind if pass.lifecycle.starts_with(OF_SITES) => FollowedKind::of_site(kind)?,
            "Listener" => FollowedKind::Listener,
            _ => return None,
        };
        let of = Followed {
            sort,
            namespace: pass.of.namespace.clone().unwrap_or_default(),
            name: pass.of.name.clone(),
        };
        // The status of each of these kinds reports readiness with more detail than a
        // reconciliation: the address.
        Some((of, true))
    }

    async fn changed(
        &self,
        client: &Client,
        at: usize,
        object: &DynamicObject,
        updates: &mut Updates<Followed>,
    ) {
        match sort(at) {
            Some(FollowedKind::Listener) => note_listener(object, updates),
            Some(FollowedKind::OfSite(kind)) => {
                self.note_of_site(client, kind, object, updates).await;
            }
            Some(FollowedKind::Pod) => self.note_pod(client, object, updates).await,
            None => note_complaint(object, updates),
        }
    }
}

impl OfProducts {
    /// Returns the address at which a Listener of a site is reachable.
    pub(super) async fn door(&self, client: &Client, of: &Followed) -> Option<ListenerEndpoint> {
        self.sites.door(client, (&of.namespace, &of.name)).await
    }

    /// Reports that an object of a site is Ready; for a Listener with its address, and with the
    /// result of the echo test.
    async fn note_of_site(
        &self,
        client: &Client,
        kind: &'static str,
        object: &DynamicObject,
        updates: &mut Updates<Followed>,
    ) {
        let of = named(FollowedKind::OfSite(kind), object);
        if follow::ready(object).is_none() {
            updates.unmet(&of);
            return;
        }
        let door = match kind {
            "Listener" => self.door(client, &of).await,
            _ => None,
        };
        let said = match door {
            Some(door) => format!("at {}", door.at),
            None => status::<Status>(object).message.unwrap_or_default(),
        };
        let line = format!("{:<12}  {said}", "Ready").trim_end().to_owned();
        if updates.met(of, line)
            && let Some(door) = door.filter(|door| door.echoes)
        {
            print_line(&format!("{:14}{}", "", traffic(door.at).await));
        }
    }

    async fn note_pod(
        &self,
        client: &Client,
        object: &DynamicObject,
        updates: &mut Updates<Followed>,
    ) {
        let Ok(pod) = object.clone().try_parse::<Pod>() else {
            return;
        };
        let (of, line) = (named(FollowedKind::Pod, &pod), phase(&pod));
        let ready = line.starts_with("Running") || line.starts_with("Succeeded");
        let known = updates.last(&of);
        let known = known.map(|said| (said.line.as_str(), said.ready));
        // A reported problem stays until the Pod runs.
        if known == Some((line.as_str(), ready)) || known.is_some() && line == "Pending" {
            return;
        }
        updates.record(of, Update { line, ready });
        if ready {
            for mounted in mounted::of_pod(client, &self.volumes, &pod).await {
                print_line(&format!("{:14}{}", "", mounted.line()));
            }
        }
    }
}

/// Returns the sort of the objects of a kind, given its place. Returns `None` for events.
fn sort(at: usize) -> Option<FollowedKind> {
    match at {
        0 => Some(FollowedKind::Listener),
        1 => Some(FollowedKind::Pod),
        at => at
            .checked_sub(BEFORE)
            .map(|at| FollowedKind::OfSite(FollowedKind::OF_SITE[at])),
    }
}

/// Returns the line for an AccessToken that is not applied yet.
pub(super) fn waiting() -> Update {
    let line = format!(
        "{:<12}  no AccessGrant with its code is Ready yet",
        "Waiting"
    );
    Update { line, ready: false }
}

fn note_listener(object: &DynamicObject, updates: &mut Updates<Followed>) {
    let of = named(FollowedKind::Listener, object);
    if follow::ready(object).is_some() {
        let line = format!("{:<12}  at {}", "Ready", addresses(&status(object)));
        updates.met(of, line);
    } else {
        updates.unmet(&of);
    }
}

fn note_complaint(object: &DynamicObject, updates: &mut Updates<Followed>) {
    let event = object.clone().try_parse().ok();
    let Some((namespace, name, line)) = event.as_ref().and_then(mounted::complaint) else {
        return;
    };
    let sort = FollowedKind::Pod;
    let of = Followed {
        sort,
        namespace,
        name,
    };
    if updates.last(&of).is_none_or(|said| !said.ready) {
        updates.record(of, Update { line, ready: false });
    }
}

fn status<S: serde::de::DeserializeOwned + Default>(object: &DynamicObject) -> S {
    serde_json::from_value(object.data["status"].clone()).unwrap_or_default()
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

    fn listener(status: &Value) -> DynamicObject {
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

    #[test]
    fn only_a_status_of_the_present_generation_makes_it_ready() {
        let mut updates = Updates::begin();
        for stale in [status("True", 1), status("False", 2), json!({})] {
            note_listener(&listener(&stale), &mut updates);
            assert_eq!(updates.last(&followed_listener("a")), None, "{stale}");
        }
        note_listener(&listener(&status("True", 2)), &mut updates);
        assert_eq!(
            updates.last(&followed_listener("a")),
            Some(&Update {
                line: "Ready         at a.svc:80, a.svc:81".to_owned(),
                ready: true
            })
        );
    }
}
