//! Reconciliation of a Listener: the pure answers and builders of its lifecycle, one file per
//! concern. Knows no client: every method reads only its arguments.

pub(crate) mod addresses;
pub(crate) mod external;
mod field_path;
mod flaw;
mod overrides;
pub(crate) mod permission;
mod ports;
mod reach;
mod service;
mod validity;

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{Node, PersistentVolume, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::ResourceExt;
use lifecycle_runtime::{Because, Desired, This};
use lifecycle_specs_listener::listener::{
    Address, ApplyService, ExternalNames, Listener, ListenerIngress, ListenerLogic, ObservedClass,
    Overrides, Permission, Reach, Validity,
};
use lifecycle_specs_listener::listener_class::ListenerClass;
use serde_json::json;

/// Reconciles Listeners.
#[derive(Clone, Debug)]
pub struct Exposure {
    /// The domain below which Services have their names, without the leading dot: `cluster.local`.
    pub cluster_domain: String,
}

impl ListenerLogic for Exposure {
    fn nodes(
        &self,
        _: This<'_, Listener>,
        volumes: &[&PersistentVolume],
        slices: &[&EndpointSlice],
    ) -> BTreeSet<String> {
        reach::backing(volumes, slices).into_keys().collect()
    }

    fn reach(
        &self,
        this: This<'_, Listener>,
        class: &ListenerClass,
        service: &Service,
        volumes: &[&PersistentVolume],
        slices: &[&EndpointSlice],
        nodes: &[&Node],
    ) -> Reach {
        let backing = reach::backing(volumes, slices);
        reach::reach(this, class, service, &backing, nodes, &self.cluster_domain)
    }

    fn permission(&self, this: This<'_, Listener>, class: &ListenerClass) -> Because<Permission> {
        permission::verdict(this, class)
    }

    fn validity(&self, this: This<'_, Listener>, class: &ListenerClass) -> Because<Validity> {
        validity::verdict(this, class)
    }

    fn overrides(&self, this: This<'_, Listener>) -> Because<Overrides> {
        match service::unmatched_override(this) {
            None => Because::plain(Overrides::Matched),
            Some(sentence) => Because::new(Overrides::Unmatched, sentence),
        }
    }

    fn external_names(
        &self,
        this: This<'_, Listener>,
        class: &ListenerClass,
    ) -> Because<ExternalNames> {
        external::verdict(this, class)
    }

    fn address(&self, this: This<'_, Listener>, reach: &Reach) -> Because<Address> {
        reach::address(this, reach)
    }

    fn apply_service(&self, at: ApplyService<'_>) -> Desired<Service> {
        // Where no Service can be made, nothing is wanted of the one that may be there: it counts as stale, and the effect is not permitted.
        let service = service::build(at.this, at.class).unwrap_or_else(|_| json!({}));
        Desired::from_json(service)
    }

    fn service_name(&self, _: This<'_, Listener>, service: &Service) -> String {
        service.name_any()
    }

    fn ingress_addresses(&self, _: This<'_, Listener>, reach: &Reach) -> Vec<ListenerIngress> {
        reach.addresses.clone()
    }

    fn observed_class(
        &self,
        _: This<'_, Listener>,
        class: &ListenerClass,
    ) -> Option<ObservedClass> {
        observed(class)
    }

    fn node_ports(
        &self,
        _: This<'_, Listener>,
        service: &Service,
    ) -> Option<BTreeMap<String, i32>> {
        addresses::published_node_ports(service)
    }
}

/// Returns the address settings of a class now; `None` for a class that no API server has seen. Any
/// other edit of the class makes no status older.
pub(crate) fn observed(class: &ListenerClass) -> Option<ObservedClass> {
    let spec = &class.spec;
    let overridden = spec.service_overrides.get("spec");
    let overridden = overridden.and_then(|spec| spec.get("type"));
    let overridden = overridden.filter(|said| !said.is_null());
    let service_type = overridden.cloned().unwrap_or(json!(spec.service_type));
    // An unknown type makes no Service, and so no addresses.
    let known = serde_json::from_value(service_type.clone()).unwrap_or(spec.service_type);
    Some(ObservedClass {
        uid: class.metadata.uid.clone()?,
        service_type: service_type.as_str()?.to_owned(),
        address_type: addresses::resolve_address_type(spec.preferred_address_type, known),
        allowed_external_name_suffixes: spec.allowed_external_name_suffixes.clone(),
        additional_node_address_types: spec.additional_node_address_types.clone(),
    })
}

#[cfg(test)]
mod class_rules;
#[cfg(test)]
mod tests;
