//! Validity of a Listener: the check that a Service can be made for it at all, and the remedy if
//! not.

use lifecycle_runtime::{Because, ObjectRef, This};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::listener_class::ListenerClass;

use super::flaw::Validity;
use super::service;

/// The answer to the fact `validity`.
pub(super) fn verdict(this: This<'_, Listener>, class: &ListenerClass) -> Because<Validity> {
    match service::build(this, class) {
        Ok(_) => Because::plain(Validity::Fine),
        Err(flaw) => Because::new(flaw.validity, flaw.sentence).with_object(ObjectRef::to(class)),
    }
}

#[cfg(test)]
mod tests {
    use lifecycle_specs_listener::listener::{ListenerPort, ListenerSpec};
    use lifecycle_specs_listener::listener_class::{ListenerClassSpec, ServiceType};
    use serde_json::{Value, json};

    use super::*;

    fn listener(name: &str, spec: Value) -> Listener {
        let mut listener =
            Listener::new(name, serde_json::from_value::<ListenerSpec>(spec).unwrap());
        listener.metadata.namespace = Some("apps".into());
        listener.metadata.uid = Some("00000000-0000-0000-0000-000000000001".into());
        listener
    }

    fn check(name: &str, spec: Value, overrides: Value, expected: Validity, sentence: &str) {
        let listener = listener(name, spec);
        let mut class = ListenerClass::new("c", ListenerClassSpec::new(ServiceType::ClusterIP));
        class.spec.service_overrides = overrides.as_object().unwrap().clone();
        let found = verdict(This::new(&listener), &class);
        assert_eq!((found.value, found.sentence.as_str()), (expected, sentence));
    }

    fn http() -> Value {
        json!({ "ports": [{ "name": "http", "port": 80 }] })
    }

    #[test]
    fn a_listener_with_one_port_is_fine() {
        check("l", http(), json!({}), Validity::Fine, "");
        check(&"l".repeat(63), http(), json!({}), Validity::Fine, "");
        check("9l", http(), json!({}), Validity::Fine, "");
    }

    #[test]
    fn b28_no_ports_says_where_they_would_come_from() {
        let sentence = "there is no port to expose; set `spec.ports`, or for the Listener of a claim declare container ports in the template of its Pods";
        check("l", json!({}), json!({}), Validity::NoPorts, sentence);
        check(
            "l",
            json!({ "ports": null }),
            json!({}),
            Validity::NoPorts,
            sentence,
        );
        check(
            "l",
            json!({ "ports": [] }),
            json!({}),
            Validity::NoPorts,
            sentence,
        );
    }

    #[test]
    fn an_override_can_bring_the_only_port() {
        let port = json!({ "spec": { "ports": [{ "name": "http", "port": 80 }] } });
        check("l", json!({}), port, Validity::Fine, "");
    }

    #[test]
    fn names_that_no_service_can_have_are_refused() {
        check(
            &"l".repeat(64),
            http(),
            json!({}),
            Validity::BadName,
            "the name has 64 characters and its Service needs the same one, which may have 63; create a Listener with a shorter name",
        );
        check(
            "a.b",
            http(),
            json!({}),
            Validity::BadName,
            "the name has a dot and its Service needs the same one, which may have none; create a Listener with another name",
        );
    }

    #[test]
    fn an_override_that_reaches_too_far_is_named() {
        let refused = |overrides: Value, sentence: &str| {
            check("l", http(), overrides, Validity::BadOverride, sentence);
        };
        refused(
            json!({ "metadata": { "name": "other" } }),
            "`spec.serviceOverrides` of ListenerClass `c`: `name` is \"other\" but must stay \"l\"; leave it out",
        );
        refused(
            json!({ "metadata": { "labels": { "app.kubernetes.io/name": "kafka" } } }),
            "overrides change label `app.kubernetes.io/name` from \"listener\" to \"kafka\"; leave it out",
        );
        refused(
            json!({ "metadata": { "ownerReferences": [] } }),
            "overrides take away the owner of the Service; leave `metadata.ownerReferences` out",
        );
        refused(
            json!({ "spec": { "type": "ExternalName" } }),
            "overrides set type \"ExternalName\"; choose ClusterIP, NodePort or LoadBalancer",
        );
        refused(
            json!({ "spec": { "selector": { "listener.stackable.tech/mnt.00000000000000000000000000000001": "x" } } }),
            "overrides change what Pods that mount the Listener are found by; leave label `listener.stackable.tech/mnt.00000000000000000000000000000001` out of the selector",
        );
        refused(
            json!({ "spec": { "ports": [{ "port": 81, "name": "http" }] } }),
            "with the overrides, port name `http` is used more than once; give each port a name of its own",
        );
    }

    #[test]
    fn the_override_of_the_listener_itself_is_named_by_its_position() {
        let mut spec = http();
        spec["objectOverrides"] = json!([
            { "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "l", "namespace": "apps", "uid": "1" } },
            { "apiVersion": "v1", "kind": "Service", "metadata": { "name": "l", "namespace": "apps", "uid": "1" } },
        ]);
        check(
            "l",
            spec,
            json!({}),
            Validity::BadOverride,
            "`spec.objectOverrides[1]`: `metadata.uid` cannot be overridden; leave it out",
        );
    }

    #[test]
    fn ports_are_judged_before_overrides() {
        let ports = vec![ListenerPort {
            name: "a".into(),
            port: 0,
            protocol: None,
        }];
        check(
            "l",
            json!({ "ports": ports }),
            json!({ "metadata": { "name": "other" } }),
            Validity::BadPort,
            "port 0 of `a` is out of range; choose a number from 1 to 65535",
        );
    }
}
