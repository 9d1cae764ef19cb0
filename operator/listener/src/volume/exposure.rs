//! Exposure of a Listener: the check that its status reports its addresses for the class as it is
//! now. Also the addresses that a Pod receives.

use k8s_openapi::api::core::v1::Node;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt;
use lifecycle_runtime::Because;
use lifecycle_specs_listener::listener::{Listener, ListenerStatus};
use lifecycle_specs_listener::listener_class::{ListenerClass, ServiceType};
use lifecycle_specs_listener::listener_mount::{Exposed, PodAddresses};
use lifecycle_specs_listener::pod_listeners::PodListenerScope;

use crate::listener::{addresses, external, observed};

/// The most characters of a sentence about a Listener: it becomes an event of a Pod.
const LONGEST_SENTENCE: usize = 200;

/// Ends a sentence that is cut.
const CUT: &str = "..";

/// The answer to the fact `exposed`.
pub(super) fn exposed(listener: &Listener, class: Option<&ListenerClass>) -> Because<Exposed> {
    let name = listener.name_any();
    let Some(class_name) = &listener.spec.class_name else {
        return Because::new(
            Exposed::NoClass,
            format!("Listener `{name}` names no class; give it a className"),
        );
    };
    let waits = |why: String| Because::new(Exposed::No, why);
    let Some(class) = class else {
        return waits(format!(
            "ListenerClass `{class_name}` does not exist; create it"
        ));
    };
    let status = listener.status.as_ref();
    let Some(status) = status.filter(|status| status.observed_generation != Some(-1)) else {
        return waits(format!(
            "Listener `{name}` has not been reconciled yet; check that the controller runs"
        ));
    };
    let by_this_class = status.observed_class.is_some() && status.observed_class == observed(class);
    if !by_this_class || is_behind(listener, status) {
        return waits(format!(
            "the status of Listener `{name}` is older than its spec or its class; check that the controller runs"
        ));
    }
    if status.service_name.is_none() {
        return waits(trouble(&name, status));
    }
    Because::plain(Exposed::Yes)
}

/// Returns true if the status describes an earlier generation of the Listener.
fn is_behind(listener: &Listener, status: &ListenerStatus) -> bool {
    let seen = |condition: &Condition| condition.observed_generation;
    let conditions = status.conditions.iter().flatten();
    let oldest = conditions.filter_map(seen).min();
    oldest < listener.metadata.generation
}

/// Returns the error that the Listener itself reports. Its name comes first if one short sentence
/// has room for both.
fn trouble(name: &str, status: &ListenerStatus) -> String {
    let conditions = status.conditions.iter().flatten();
    let ready = conditions.into_iter().find(|one| one.type_ == "Ready");
    let message = ready.map(|ready| ready.message.as_str());
    let Some(message) = message.filter(|message| !message.is_empty()) else {
        return format!("Listener `{name}` is not ready");
    };
    let sentence = format!("Listener `{name}` is not ready: {message}");
    let fits = |text: &str| text.chars().count() <= LONGEST_SENTENCE;
    if fits(&sentence) {
        return sentence;
    }
    if fits(message) {
        return message.to_owned();
    }
    // The words of an API server have no bound.
    let begins = message.chars().take(LONGEST_SENTENCE - CUT.len());
    begins.chain(CUT.chars()).collect()
}

/// Returns the addresses for the Pod: for a NodePort those of its own node, otherwise all that the
/// Listener reports.
pub(super) fn pod_addresses(
    listener: Option<&Listener>,
    class: Option<&ListenerClass>,
    node: Option<&Node>,
) -> PodAddresses {
    let (Some(listener), Some(class)) = (listener, class) else {
        return cluster(Vec::new());
    };
    let Some(status) = &listener.status else {
        return cluster(Vec::new());
    };
    let Some(ports) = &status.node_ports else {
        return cluster(status.ingress_addresses.clone().unwrap_or_default());
    };
    let wanted =
        addresses::resolve_address_type(class.spec.preferred_address_type, ServiceType::NodePort);
    let added = class.spec.additional_node_address_types.as_deref();
    let of_node = |node| addresses::of_node(node, wanted, added.unwrap_or_default());
    let found = node.map(of_node).unwrap_or_default();
    let found = external::joined(found, &listener.spec, class);
    PodAddresses {
        addresses: addresses::published(found, ports),
        scope: PodListenerScope::Node,
    }
}

fn cluster(addresses: Vec<lifecycle_specs_listener::listener::ListenerIngress>) -> PodAddresses {
    PodAddresses {
        addresses,
        scope: PodListenerScope::Cluster,
    }
}

/// The answer to the fact `address`.
pub(super) fn address(told: &PodAddresses, listener: Option<&Listener>) -> Because<bool> {
    if !told.addresses.is_empty() {
        return Because::plain(true);
    }
    let name = listener.map(ResourceExt::name_any).unwrap_or_default();
    match told.scope {
        PodListenerScope::Node => Because::new(
            false,
            format!(
                "the node has no address that Listener `{name}` can publish; give it an ExternalIP, InternalIP or Hostname"
            ),
        ),
        PodListenerScope::Cluster => {
            let status = listener.and_then(|listener| listener.status.as_ref());
            let sentence = match status {
                Some(status) => trouble(&name, status),
                None => format!("Listener `{name}` has no address yet"),
            };
            Because::new(false, sentence)
        }
    }
}
