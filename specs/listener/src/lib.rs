//! The kinds of `listeners.stackable.tech/v1alpha1` and their lifecycles: one file per resource, and one per volume of the CSI driver.
//! Knows no client and no command line; how a resource is reconciled is the operator's business.

#![deny(missing_docs)]

pub mod listener;
pub mod listener_class;
pub mod listener_mount;
pub mod listener_provisioning;
pub mod pod_listeners;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;
use lifecycle_runtime::crds::{unobserved, without_conversion};

use crate::listener::Listener;
use crate::listener_class::ListenerClass;
use crate::pod_listeners::PodListeners;

/// Returns the three definitions of the Listener operator, in the order in which they are printed
/// and installed.
pub fn crds() -> Vec<CustomResourceDefinition> {
    let all = [
        ListenerClass::crd(),
        unobserved(Listener::crd()),
        PodListeners::crd(),
    ];
    all.into_iter().map(without_conversion).collect()
}
