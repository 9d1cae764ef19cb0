//! The controller side: the promises to a claim.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use lifecycle_runtime::lifecycle::request::{Access, AccessMode, Capability};
use lifecycle_runtime::lifecycle::{CreatedVolume, Request};
use lifecycle_runtime::{Because, ObjectRef};
use lifecycle_specs_listener::listener::{Listener, TOPOLOGY};
use lifecycle_specs_listener::listener_class::{ListenerClass, ServiceType};
use lifecycle_specs_listener::listener_provisioning::{
    Allowed, Asked, ListenerProvisioningLogic, Named, NamesClaim, Seen, Source,
};

use super::claim::{self, Selector};
use crate::listener::permission;

const CLAIM_NAME: &str = "csi.storage.k8s.io/pvc/name";
const CLAIM_NAMESPACE: &str = "csi.storage.k8s.io/pvc/namespace";

/// Promises Listener volumes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Provisioning;

impl ListenerProvisioningLogic for Provisioning {
    fn claim(&self, request: Request<'_>) -> Option<ObjectRef> {
        let (namespace, name) = claim_in(request.parameters())?;
        Some(ObjectRef::new::<PersistentVolumeClaim>(
            Some(namespace),
            name,
        ))
    }

    fn chosen(&self, claim: &PersistentVolumeClaim) -> Option<ObjectRef> {
        match selector(claim) {
            Ok(Selector::Name(name)) => {
                let namespace = claim.metadata.namespace.as_deref();
                Some(ObjectRef::new::<Listener>(namespace, name))
            }
            Ok(Selector::Class(_)) | Err(_) => None,
        }
    }

    fn class(
        &self,
        claim: Option<&PersistentVolumeClaim>,
        chosen: Option<&Listener>,
    ) -> Option<ObjectRef> {
        let name = match selector(claim?) {
            Ok(Selector::Class(class)) => class,
            Ok(Selector::Name(_)) => chosen?.spec.class_name.as_deref()?,
            Err(_) => return None,
        };
        Some(ObjectRef::new::<ListenerClass>(None, name))
    }

    fn asked(&self, capabilities: &[Capability]) -> Because<Asked> {
        for capability in capabilities {
            if capability.access == Access::Block {
                return Because::new(
                    Asked::Unfit,
                    "a Listener volume holds files; use `volumeMode: Filesystem`",
                );
            }
            if capability.mode == AccessMode::Unknown {
                return Because::new(Asked::Unfit, "the access mode is unknown");
            }
        }
        Because::plain(Asked::Mount)
    }

    fn names_claim(&self, parameters: &BTreeMap<String, String>) -> Because<NamesClaim> {
        let named = claim_in(parameters).is_some();
        Because::plain(if named {
            NamesClaim::Yes
        } else {
            NamesClaim::No
        })
    }

    fn source(&self, claim: &PersistentVolumeClaim) -> Because<Source> {
        match selector(claim) {
            Ok(Selector::Class(_)) => Because::plain(Source::Class),
            Ok(Selector::Name(_)) => Because::plain(Source::Name),
            Err(unclear) => Because::new(Source::Bad, unclear.to_string()),
        }
    }

    fn named(&self, chosen: &Listener) -> Because<Named> {
        let class = chosen.spec.class_name.as_ref();
        Because::plain(if class.is_some() {
            Named::Yes
        } else {
            Named::No
        })
    }

    fn allowed(
        &self,
        claim: Option<&PersistentVolumeClaim>,
        class: &ListenerClass,
    ) -> Because<Allowed> {
        // The Listener has the namespace of its claim, also the one that the claim names.
        let namespace = claim.and_then(|claim| claim.metadata.namespace.as_deref());
        match permission::wrong_namespace(namespace.unwrap_or_default(), class) {
            None => Because::plain(Allowed::Yes),
            Some(sentence) => Because::new(Allowed::No, sentence),
        }
    }

    fn created_volume(&self, seen: &Seen<'_>) -> CreatedVolume {
        let volume = CreatedVolume::new(seen.request.name().unwrap_or_default());
        let volume = match seen.claim.map(selector) {
            Some(Ok(Selector::Class(class))) => volume.with_context(claim::CLASS, class),
            Some(Ok(Selector::Name(name))) => volume.with_context(claim::NAME, name),
            Some(Err(_)) | None => volume,
        };
        let pinned = seen.class.is_some_and(|class| {
            class.spec.service_type == ServiceType::NodePort && class.spec.pinned_node_ports
        });
        match where_to(seen.request) {
            Some(node) if pinned => {
                volume.accessible_from([(TOPOLOGY.to_owned(), node.to_owned())].into())
            }
            Some(_) | None => volume,
        }
    }
}

/// Returns namespace and name of the claim, from the parameters of external-provisioner.
fn claim_in(parameters: &BTreeMap<String, String>) -> Option<(&str, &str)> {
    let namespace = parameters.get(CLAIM_NAMESPACE)?;
    let name = parameters.get(CLAIM_NAME)?;
    Some((namespace, name))
}

/// The node that was chosen for the Pod: the first that is preferred.
fn where_to(request: Request<'_>) -> Option<&str> {
    let mut places = request.preferred().iter().chain(request.requisite());
    places.find_map(|place| place.get(TOPOLOGY).map(String::as_str))
}

fn selector(claim: &PersistentVolumeClaim) -> Result<Selector<'_>, claim::Unclear> {
    claim::parse_selector(|key| claim::annotation(claim, key))
}
