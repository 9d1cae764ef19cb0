//! What the Site writes for its router: decided from what it decided before and from all that its namespace asks for.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::ResourceExt;
use lifecycle_runtime::Desired;
use lifecycle_runtime::selector::LabelSelector;
use lifecycle_specs::skupper::SelectedPod;
use lifecycle_specs::skupper::connector::{self, Connector, ConnectorSpec};
use lifecycle_specs::skupper::listener::{self, Listener, ListenerSpec};
use lifecycle_specs::skupper::router::ROUTER;
use serde_json::{Map, Value, json};

use super::claims::{Before, Wish, decide};
use super::document::{self, Identity, Offer, Server, document, named};
use super::platform::Platform;
use super::table::{CLAIMS, DOCUMENT, FULL};
use super::{pods, shape};

/// What a configuration may take: an object of the API server holds 1 MiB.
const ROOM: usize = 900 * 1024;
/// What a claim takes beside its entry, generously.
const CLAIM: usize = 400;

/// The Pods of a Connector, with their uids.
pub type Selected = Vec<(SelectedPod, String)>;

/// A way to serve a routing key, whoever declared it.
#[derive(Clone, Debug)]
pub struct Served {
    /// The name of its entries.
    pub name: String,
    /// What it asks for.
    pub spec: ConnectorSpec,
    /// Empty where it names a host.
    pub pods: Selected,
}

/// The Pods that a Connector leads to; empty where it names a host, or its selector cannot be read.
pub fn selected(spec: &ConnectorSpec, pods: &[&Pod]) -> Selected {
    if named(spec.host.as_ref()).is_some() {
        return Vec::new();
    }
    let selector = named(spec.selector.as_ref()).map(LabelSelector::parse);
    let Some(Ok(selector)) = selector else {
        return Vec::new();
    };
    let chosen = pods.iter().filter(|pod| selector.matches(pod.labels()));
    let ready = spec.include_not_ready_pods == Some(true);
    pods::selected(chosen.copied(), ready)
}

/// The Connectors that can be carried out, by name.
pub fn served(connectors: &[&Connector], pods: &[&Pod]) -> Vec<Served> {
    let going = |connector: &&&Connector| connector.metadata.deletion_timestamp.is_none();
    let fine =
        |connector: &&&Connector| shape::connector(&connector.spec).value == connector::Shape::Fine;
    let all = connectors.iter().filter(going).filter(fine);
    all.map(|connector| Served {
        name: connector.name_any(),
        spec: connector.spec.clone(),
        pods: selected(&connector.spec, pods),
    })
    .collect()
}

/// The ConfigMap of the router, by what was decided before.
pub fn table(
    (site, platform): (&Identity<'_>, Platform),
    before: &Before,
    listeners: &[&Listener],
    served: &[Served],
) -> Desired<ConfigMap> {
    let fine: Vec<&Listener> = listeners
        .iter()
        .filter(|l| l.metadata.deletion_timestamp.is_none())
        .filter(|l| shape::listener(&l.spec, platform).value == listener::Shape::Fine)
        .copied()
        .collect();
    let servers: Vec<Server<'_>> = served.iter().map(server).collect();
    let taken = document(site, &[], &servers).to_string().len();
    let wishes: Vec<Wish> = fine.iter().flat_map(|l| wishes(l, served)).collect();
    let decided = decide(before, &wishes, ROOM.saturating_sub(taken));
    let specs: BTreeMap<&str, &ListenerSpec> = fine
        .iter()
        .filter_map(|l| Some((l.metadata.uid.as_deref()?, &l.spec)))
        .collect();
    let claims = decided.claims.iter();
    let offers: Vec<Offer<'_>> = claims
        .filter_map(|claim| {
            let spec = specs.get(claim.uid.as_str())?;
            Some(Offer {
                claim,
                spec,
                platform,
            })
        })
        .collect();
    let mut data = Map::new();
    let document = document(site, &offers, &servers);
    data.insert(DOCUMENT.to_owned(), document.to_string().into());
    data.insert(CLAIMS.to_owned(), json!(decided.claims).to_string().into());
    if !decided.full.is_empty() {
        data.insert(FULL.to_owned(), json!(decided.full).to_string().into());
    }
    Desired::from_json(json!({
        "metadata": { "name": ROUTER, "labels": { "internal.skupper.io/router-config": "" } },
        "data": data,
    }))
}

/// As the document takes it.
pub fn server(served: &Served) -> Server<'_> {
    Server {
        name: &served.name,
        spec: &served.spec,
        pods: &served.pods,
    }
}

/// What a Listener asks for: its host, and a Service for each Pod where both sides expose them.
fn wishes(listener: &Listener, served: &[Served]) -> Vec<Wish> {
    let (meta, spec) = (&listener.metadata, &listener.spec);
    let (Some(uid), Ok(port)) = (&meta.uid, u16::try_from(spec.port)) else {
        return Vec::new();
    };
    let size = CLAIM + spec.routing_key.len() * 2 + listener.name_any().len() * 4;
    let whole = Wish {
        uid: uid.clone(),
        name: listener.name_any(),
        pod: None,
        created: meta
            .creation_timestamp
            .as_ref()
            .map_or(Timestamp::MIN, |at| at.0),
        host: spec.host.clone(),
        port,
        size,
    };
    let pods = exposed(listener, served).into_iter().map(|pod| Wish {
        size: size + pod.len() * 4,
        host: pod.clone(),
        pod: Some(pod),
        ..whole.clone()
    });
    let pods: Vec<Wish> = pods.collect();
    [whole].into_iter().chain(pods).collect()
}

/// The Pods that are reached by name: of Connectors with exactly this routing key.
fn exposed(listener: &Listener, served: &[Served]) -> BTreeSet<String> {
    let spec = &listener.spec;
    if spec.expose_pods_by_name != Some(true) {
        return BTreeSet::new();
    }
    let all = served.iter().filter(|s| {
        s.spec.routing_key == spec.routing_key && s.spec.expose_pods_by_name == Some(true)
    });
    all.flat_map(|served| served.pods.iter().map(|(pod, _)| pod.name.clone()))
        .collect()
}

/// The Secrets of the profiles of a configuration, sorted.
pub fn secrets(table: &ConfigMap) -> BTreeSet<String> {
    let text = table.data.as_ref().and_then(|data| data.get(DOCUMENT));
    let all: Option<Vec<(String, Map<String, Value>)>> =
        text.and_then(|text| serde_json::from_str(text).ok());
    let all = all.unwrap_or_default().into_iter();
    all.filter(|(entity, _)| entity == "sslProfile")
        .filter_map(|(_, attributes)| document::secret_of(&attributes))
        .collect()
}

#[cfg(test)]
mod tests;
