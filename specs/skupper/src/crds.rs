//! Set of CustomResourceDefinitions, completed beyond the abilities of the derive macro. This
//! module knows no cluster.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use kube::CustomResourceExt;
use lifecycle_runtime::crds::without_conversion;

use crate::access_grant::AccessGrant;
use crate::access_token::AccessToken;
use crate::attached::AttachedConnector;
use crate::attached_binding::AttachedConnectorBinding;
use crate::certificate::Certificate;
use crate::connector::Connector;
use crate::link::Link;
use crate::listener::Listener;
use crate::multi_key_listener::MultiKeyListener;
use crate::router_access::RouterAccess;
use crate::secured_access::SecuredAccess;
use crate::site::Site;

/// Upper bound on the members of a list or map of a spec that has no other. The published definitions have none; no site comes near it.
const MOST: i64 = 1000;

/// Returns the definitions of one Skupper site, in the order in which they are printed and
/// installed.
pub fn crds() -> Vec<CustomResourceDefinition> {
    let all = [
        Site::crd(),
        Listener::crd(),
        MultiKeyListener::crd(),
        Connector::crd(),
        AttachedConnector::crd(),
        AttachedConnectorBinding::crd(),
        Certificate::crd(),
        SecuredAccess::crd(),
        RouterAccess::crd(),
        Link::crd(),
        AccessGrant::crd(),
        AccessToken::crd(),
    ];
    let all = all.into_iter().map(without_conversion);
    all.map(plain).collect()
}

/// As the published definitions are: an object without `spec` is an object but for one kind, nothing has a default, and null is no value.
fn plain(mut definition: CustomResourceDefinition) -> CustomResourceDefinition {
    for version in &mut definition.spec.versions {
        let schema = version.schema.as_mut();
        let Some(schema) = schema.and_then(|s| s.open_api_v3_schema.as_mut()) else {
            continue;
        };
        if definition.spec.names.kind != "MultiKeyListener" {
            schema.required = None;
        }
        for below in schema.properties.iter_mut().flatten() {
            without_defaults(below.1);
        }
        let spec = schema
            .properties
            .as_mut()
            .and_then(|all| all.get_mut("spec"));
        if let Some(spec) = spec {
            bound(spec);
        }
    }
    definition
}

/// Bounds the user-written parts. A status grows with the network that it describes.
fn bound(schema: &mut JSONSchemaProps) {
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &mut schema.items {
        schema.max_items.get_or_insert(MOST);
        bound(items);
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &mut schema.additional_properties {
        schema.max_properties.get_or_insert(MOST);
        bound(values);
    }
    for below in schema.properties.iter_mut().flatten() {
        bound(below.1);
    }
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
