//! Router entries that Links require: a connector to a router of another site, and the profile with
//! which the two authenticate each other. Pure.

use lifecycle_specs_skupper::link::LinkSpec;
use lifecycle_specs_skupper::site::Endpoint;
use serde_json::json;

use super::document::{self, ConfigEntry, Profiled, SiteIdentity};
use super::proxies;
use crate::settings::named;

/// Returns the role that an endpoint must have for a site to dial it, which is also the role of the
/// link.
pub fn role(edge: bool) -> &'static str {
    if edge { "edge" } else { "inter-router" }
}

/// Returns the endpoint that a site dials.
pub fn endpoint(spec: &LinkSpec, edge: bool) -> Option<&Endpoint> {
    let mut all = spec.endpoints.iter();
    all.find(|endpoint| endpoint.name.as_deref() == Some(role(edge)))
}

/// The entry of a Link, with its profile.
pub fn entry(site: &SiteIdentity<'_>, name: &str, spec: &LinkSpec) -> Option<Profiled> {
    let endpoint = endpoint(spec, site.edge)?;
    let secret = named(spec.tls_credentials.as_ref())?;
    let (profile, files) = document::link_profile(secret);
    let attributes = [
        ("name", json!(name)),
        ("role", json!(role(site.edge))),
        ("host", json!(endpoint.host)),
        ("port", json!(endpoint.port)),
        ("cost", json!(cost(spec))),
        ("sslProfile", json!(profile)),
    ];
    let through = proxies::named_by(spec).map(|proxy| (proxies::ENTITY.to_owned(), json!(proxy)));
    let attributes = attributes.map(|(name, value)| (name.to_owned(), value));
    let attributes = attributes
        .into_iter()
        .chain(through)
        .chain(document::allowed_keys(spec.settings.as_ref()));
    let entry: ConfigEntry = ("connector", attributes.collect());
    Some((entry, Some((profile, files))))
}

/// Returns the cost of a Link. A value below 1 counts as 1. A value above the range of a router
/// counts as its maximum.
fn cost(spec: &LinkSpec) -> i32 {
    let cost = spec.cost.unwrap_or(1).max(1);
    i32::try_from(cost).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn spec(spec: Value) -> LinkSpec {
        serde_json::from_value(spec).unwrap()
    }

    fn west(edge: bool) -> SiteIdentity<'static> {
        SiteIdentity {
            name: "west",
            uid: "uid-1",
            namespace: "west",
            platform: crate::platform::Platform::Kubernetes,
            edge,
            version: "1",
            plane: crate::data_plane::DataPlane::Embedded,
            adaptor: crate::data_plane::Adaptor::KubeAdaptor,
            prior: None,
            connections: None,
            logging: None,
        }
    }

    fn two(cost: Value) -> LinkSpec {
        spec(json!({
            "endpoints": [
                { "name": "edge", "host": "east.example.com", "port": "45671" },
                { "name": "inter-router", "host": "10.0.0.2", "port": "55671", "group": "skupper-router" },
            ],
            "tlsCredentials": "east", "cost": cost,
        }))
    }

    #[test]
    fn a_link_is_a_connector_to_the_endpoint_for_its_role() {
        let ((entity, attributes), profile) =
            entry(&west(false), "to-east", &two(json!(7))).unwrap();
        assert_eq!(entity, "connector");
        let expected = json!({
            "name": "to-east", "role": "inter-router", "host": "10.0.0.2", "port": "55671", "cost": 7, "sslProfile": "east-profile",
        });
        assert_eq!(Value::from(attributes), expected);
        let (name, files) = profile.unwrap();
        let file = |name: &str| format!("/etc/skupper-router-certs/east-profile/{name}");
        let expected = json!(["sslProfile", {
            "name": "east-profile", "caCertFile": file("ca.crt"), "certFile": file("tls.crt"), "privateKeyFile": file("tls.key"),
        }]);
        assert_eq!((name.as_str(), files), ("east-profile", expected));
        let ((_, attributes), _) = entry(&west(true), "to-east", &two(json!(7))).unwrap();
        assert_eq!(attributes["role"], "edge");
        assert_eq!(attributes["host"], "east.example.com");
    }

    #[test]
    fn only_keys_that_a_link_allows_are_to_pass() {
        let allowed = |settings: Value| {
            let mut link = two(json!(1));
            link.settings = serde_json::from_value(settings).unwrap();
            let ((_, attributes), _) = entry(&west(false), "l", &link).unwrap();
            attributes.get("allowedKeys").cloned()
        };
        assert_eq!(allowed(json!({ "other": "x" })), None);
        let some = allowed(json!({ "allowed-keys": "web, api" }));
        assert_eq!(some, Some(json!(["web", "api"])));
        let none = allowed(json!({ "allowed-keys": "" }));
        assert_eq!(none, Some(json!([])), "none is not all");
    }

    #[test]
    fn what_costs_less_than_one_costs_one() {
        let costs = |cost: Value| entry(&west(false), "l", &two(cost)).unwrap().0.1["cost"].clone();
        for (said, counts) in [
            (json!(null), 1),
            (json!(0), 1),
            (json!(-5), 1),
            (json!(1), 1),
            (json!(9), 9),
            (json!(i64::MAX), i32::MAX),
        ] {
            assert_eq!(costs(said.clone()), counts, "{said}");
        }
    }
}
