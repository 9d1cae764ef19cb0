//! The set of CustomResourceDefinitions, finished where the derive cannot say it. Knows no cluster.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinition,
};
use kube::CustomResourceExt;

use crate::{listener::Listener, listener_class::ListenerClass, pod_listeners::PodListeners};

/// The three definitions of the Listener operator, in the order in which they are printed and installed.
pub fn listeners() -> Vec<CustomResourceDefinition> {
    [ListenerClass::crd(), Listener::crd(), PodListeners::crd()]
        .into_iter()
        .map(finished)
        .collect()
}

fn finished(mut definition: CustomResourceDefinition) -> CustomResourceDefinition {
    // Said explicitly, for an installed definition may still name the conversion webhook of an operator that is gone.
    definition.spec.conversion = Some(CustomResourceConversion {
        strategy: "None".to_owned(),
        webhook: None,
    });
    definition
}
