//! The set of CustomResourceDefinitions, finished where the derive cannot say it. Knows no cluster.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray,
    JSONSchemaPropsOrBool,
};
use kube::CustomResourceExt;

use crate::skupper::attached::AttachedConnector;
use crate::skupper::attached_binding::AttachedConnectorBinding;
use crate::skupper::connector::Connector;
use crate::skupper::listener::Listener as SkupperListener;
use crate::skupper::site::Site;
use crate::{listener::Listener, listener_class::ListenerClass, pod_listeners::PodListeners};

/// The three definitions of the Listener operator, in the order in which they are printed and installed.
pub fn listeners() -> Vec<CustomResourceDefinition> {
    [ListenerClass::crd(), Listener::crd(), PodListeners::crd()]
        .into_iter()
        .map(finished)
        .collect()
}

/// The definitions of one Skupper site, in the order in which they are printed and installed.
pub fn skupper() -> Vec<CustomResourceDefinition> {
    let all = [
        Site::crd(),
        SkupperListener::crd(),
        Connector::crd(),
        AttachedConnector::crd(),
        AttachedConnectorBinding::crd(),
    ];
    all.into_iter().map(|one| plain(finished(one))).collect()
}

fn finished(mut definition: CustomResourceDefinition) -> CustomResourceDefinition {
    // Said explicitly, for an installed definition may still name the conversion webhook of an operator that is gone.
    definition.spec.conversion = Some(CustomResourceConversion {
        strategy: "None".to_owned(),
        webhook: None,
    });
    definition
}

/// As the published definitions are: an object without `spec` is an object, nothing has a default, and null is no value.
fn plain(mut definition: CustomResourceDefinition) -> CustomResourceDefinition {
    for version in &mut definition.spec.versions {
        let schema = version.schema.as_mut();
        let Some(schema) = schema.and_then(|s| s.open_api_v3_schema.as_mut()) else {
            continue;
        };
        schema.required = None;
        for below in schema.properties.iter_mut().flatten() {
            without_defaults(below.1);
        }
    }
    definition
}

fn without_defaults(schema: &mut JSONSchemaProps) {
    schema.default = None;
    schema.nullable = None;
    if let Some(values) = &mut schema.enum_ {
        values.retain(|value| !value.0.is_null());
    }
    for below in schema.properties.iter_mut().flatten() {
        without_defaults(below.1);
    }
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &mut schema.items {
        without_defaults(items);
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &mut schema.additional_properties {
        without_defaults(values);
    }
}
