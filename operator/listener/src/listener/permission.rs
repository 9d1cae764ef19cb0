//! Permission of a Listener by its class: for its namespace, and for its own overrides.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use lifecycle_runtime::{Because, ObjectRef, This};
use lifecycle_specs_listener::listener::{Listener, Permission};
use lifecycle_specs_listener::listener_class::ListenerClass;
use serde_json::{Value, json};

use super::field_path::FieldPath;
use super::overrides;
use super::service::{self, Patch};

/// How many fields a sentence names.
const NAMED: usize = 2;

/// The answer to the fact `permission`.
pub(super) fn verdict(this: This<'_, Listener>, class: &ListenerClass) -> Because<Permission> {
    let refused =
        |permission, sentence| Because::new(permission, sentence).with_object(ObjectRef::to(class));
    let namespace = this.meta.namespace.as_deref().unwrap_or_default();
    if let Some(sentence) = wrong_namespace(namespace, class) {
        return refused(Permission::NamespaceNotAllowed, sentence);
    }
    match wrong_overrides(this, class) {
        Some(sentence) => refused(Permission::OverrideNotAllowed, sentence),
        None => Because::plain(Permission::Granted),
    }
}

fn name(class: &ListenerClass) -> &str {
    class.metadata.name.as_deref().unwrap_or_default()
}

/// Reports a class that does not allow a namespace; `None` if it does.
pub(crate) fn wrong_namespace(namespace: &str, class: &ListenerClass) -> Option<String> {
    let allowed = class.spec.allowed_namespaces.as_ref()?;
    let fits = |pattern: &String| match pattern.strip_suffix('*') {
        Some(beginning) => namespace.starts_with(beginning),
        None => pattern == namespace,
    };
    (!allowed.iter().any(fits)).then(|| {
        format!(
            "ListenerClass `{}` does not allow namespace `{namespace}`; name another class, or add it to `spec.allowedNamespaces`",
            name(class)
        )
    })
}

fn wrong_overrides(this: This<'_, Listener>, class: &ListenerClass) -> Option<String> {
    let allowed = class.spec.allowed_overrides.as_ref()?;
    // An invalid path allows nothing.
    let allowed: Vec<FieldPath> = allowed
        .iter()
        .filter_map(|path| FieldPath::parse(path))
        .collect();
    let is_wrong = |path: &FieldPath| !allowed.iter().any(|one| one.holds(path));
    let without = service::by_class_alone(this, class);
    let annotations = own_annotations(this, &without).into_iter();
    let mut own = annotations.chain(service::own_overrides(this));
    own.find_map(|(place, patch)| {
        let set = overrides::set(&without, &patch).into_iter();
        let wrong: BTreeSet<FieldPath> = set.filter(is_wrong).collect();
        let fields = listed(&wrong)?;
        Some(format!(
            "ListenerClass `{}` does not allow {fields} in {place}; leave it out, or change `spec.allowedOverrides`",
            name(class)
        ))
    })
}

/// The annotations of the Listener as an override: those that the class leaves to it.
fn own_annotations<'a>(this: This<'_, Listener>, without: &Value) -> Option<Patch<'a>> {
    let by_class = &without["metadata"]["annotations"];
    let own = this.spec.service_annotations.iter();
    let left = own.filter(|(key, _)| by_class.get(key.as_str()).is_none());
    let left: BTreeMap<&String, &String> = left.collect();
    let patch = json!({ "metadata": { "annotations": left } });
    let patch = patch.as_object().filter(|_| !left.is_empty())?;
    Some((
        "`spec.serviceAnnotations`".to_owned(),
        Cow::Owned(patch.clone()),
    ))
}

fn listed(paths: &BTreeSet<FieldPath>) -> Option<String> {
    let named: Vec<String> = paths
        .iter()
        .take(NAMED)
        .map(|path| format!("`{path}`"))
        .collect();
    let more = paths.len().saturating_sub(NAMED);
    match more {
        _ if named.is_empty() => None,
        0 => Some(named.join(", ")),
        _ => Some(format!("{} and {more} more", named.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use lifecycle_specs_listener::listener::ListenerSpec;

    use super::*;

    fn found(class: Value, spec: Value) -> (Permission, String) {
        let mut listener =
            Listener::new("l", serde_json::from_value::<ListenerSpec>(spec).unwrap());
        listener.metadata.namespace = Some("apps".into());
        listener.metadata.uid = Some("00000000-0000-0000-0000-000000000001".into());
        let class = ListenerClass::new("c", serde_json::from_value(class).unwrap());
        let found = verdict(This::new(&listener), &class);
        (found.value, found.sentence)
    }

    fn in_namespaces(allowed: Value) -> (Permission, String) {
        let class = json!({ "serviceType": "ClusterIP", "allowedNamespaces": allowed });
        found(class, json!({}))
    }

    /// A class that allows these fields, and a Listener that overrides this.
    fn overriding(allowed: Value, patch: Value) -> (Permission, String) {
        let class = json!({
            "serviceType": "NodePort", "serviceExternalTrafficPolicy": "Local", "allowedOverrides": allowed,
            "serviceOverrides": { "spec": { "sessionAffinity": "ClientIP" } },
        });
        found(class, overridden(patch))
    }

    fn overridden(patch: Value) -> Value {
        let mut patch = patch;
        patch["apiVersion"] = json!("v1");
        patch["kind"] = json!("Service");
        patch["metadata"]["name"] = json!("l");
        patch["metadata"]["namespace"] = json!("apps");
        json!({ "ports": [{ "name": "http", "port": 80 }], "objectOverrides": [{}, patch] })
    }

    fn granted(found: (Permission, String)) {
        assert_eq!(found, (Permission::Granted, String::new()));
    }

    /// Refused for these fields alone.
    fn refused(found: (Permission, String), fields: &str) {
        let (permission, sentence) = found;
        let expected = format!(
            "ListenerClass `c` does not allow {fields} in `spec.objectOverrides[1]`; leave it out, or change `spec.allowedOverrides`"
        );
        assert_eq!(
            (permission, sentence),
            (Permission::OverrideNotAllowed, expected)
        );
    }

    #[test]
    fn a_class_that_says_nothing_allows_everything() {
        let plain = json!({ "serviceType": "ClusterIP" });
        let far = json!({ "spec": { "externalIPs": ["192.0.2.1"], "type": "LoadBalancer" } });
        granted(found(plain.clone(), json!({})));
        granted(found(plain, overridden(far.clone())));
        granted(in_namespaces(Value::Null));
        granted(overriding(Value::Null, far));
    }

    #[test]
    fn a_namespace_is_allowed_by_its_name_or_its_beginning() {
        for allowed in [json!(["apps"]), json!(["other", "ap*"]), json!(["*"])] {
            granted(in_namespaces(allowed));
        }
        for allowed in [json!([]), json!(["app", "apps-2", "apps-*"])] {
            let (permission, sentence) = in_namespaces(allowed);
            assert_eq!(permission, Permission::NamespaceNotAllowed);
            assert_eq!(
                sentence,
                "ListenerClass `c` does not allow namespace `apps`; name another class, or add it to `spec.allowedNamespaces`"
            );
        }
    }

    #[test]
    fn an_override_is_allowed_by_its_path_or_one_above() {
        let patch = || json!({ "spec": { "ports": [{ "port": 80, "nodePort": 30080 }] } });
        for path in [
            "spec",
            "spec.ports",
            "spec.ports[*]",
            "spec.ports[*].nodePort",
        ] {
            granted(overriding(json!([path]), patch()));
        }
        for allowed in [
            json!([]),
            json!(["spec.ports[*].name", "spec.port", "spec..ports", ""]),
        ] {
            refused(overriding(allowed, patch()), "`spec.ports[*].nodePort`");
        }
        let annotations = json!({ "metadata": { "annotations": { "a.org/x": "1", "b": "2" } } });
        refused(
            overriding(json!(["metadata.annotations['a.org/x']"]), annotations),
            "`metadata.annotations.b`",
        );
    }

    #[test]
    fn b55_annotations_of_the_listener_are_allowed_as_overrides_are_and_those_that_the_class_wins_set_nothing()
     {
        let annotated = |allowed: Value| {
            let class = json!({
                "serviceType": "ClusterIP", "allowedOverrides": allowed, "serviceAnnotations": { "a": "class" },
                "serviceOverrides": { "metadata": { "annotations": { "b": "class" } } },
            });
            let annotations = json!({ "a": "own", "b": "own", "c.org/x": "own" });
            let ports = json!([{ "name": "http", "port": 80 }]);
            found(
                class,
                json!({ "ports": ports, "serviceAnnotations": annotations }),
            )
        };
        for allowed in [Value::Null, json!(["metadata.annotations['c.org/x']"])] {
            granted(annotated(allowed));
        }
        let expected = "ListenerClass `c` does not allow `metadata.annotations['c.org/x']` in `spec.serviceAnnotations`; \
             leave it out, or change `spec.allowedOverrides`";
        for allowed in [
            json!([]),
            json!(["metadata.annotations.c", "metadata.labels"]),
        ] {
            let refused = (Permission::OverrideNotAllowed, expected.to_owned());
            assert_eq!(annotated(allowed), refused);
        }
    }

    #[test]
    fn what_reaches_outside_is_named() {
        let far = json!({
            "metadata": { "finalizers": ["example.org/stays"] },
            "spec": { "externalIPs": ["192.0.2.1"], "type": "LoadBalancer" },
        });
        refused(
            overriding(json!(["metadata.annotations"]), far),
            "`metadata.finalizers`, `spec.externalIPs` and 1 more",
        );
        let more = json!({ "spec": { "a": 1, "b": 1, "c": 1, "d": 1 }, "top": 1 });
        refused(overriding(json!([]), more), "`spec.a`, `spec.b` and 3 more");
    }

    #[test]
    fn an_override_that_says_what_is_so_anyway_sets_nothing() {
        granted(overriding(
            json!([]),
            json!({
                "status": { "loadBalancer": {} },
                "metadata": { "labels": { "app.kubernetes.io/name": "listener", "gone": null }, "annotations": {} },
                "spec": {
                    "type": "NodePort", "sessionAffinity": "ClientIP", "externalIPs": null,
                    "ports": [{ "port": 80, "protocol": "TCP" }],
                },
            }),
        ));
    }

    #[test]
    fn a_value_that_an_override_takes_away_is_set_too() {
        let refused = |patch: Value, fields: &str| refused(overriding(json!([]), patch), fields);
        refused(json!({ "spec": { "selector": {} } }), "`spec.selector`");
        refused(
            json!({ "spec": { "externalTrafficPolicy": { "x": null } } }),
            "`spec.externalTrafficPolicy`",
        );
        refused(json!({ "spec": { "ports": {} } }), "`spec.ports`");
        refused(
            json!({ "spec": { "ports": [{ "port": 80, "protocol": "UDP" }, { "port": 81 }, 7] } }),
            "`spec.ports[*]`, `spec.ports[*].port` and 1 more",
        );
    }

    #[test]
    fn without_a_service_to_compare_with_every_override_counts() {
        let class = json!({
            "serviceType": "ClusterIP", "allowedOverrides": ["spec.type"],
            "serviceOverrides": { "spec": { "type": "ExternalName" } },
        });
        let heals = json!({ "spec": { "type": "ClusterIP" } });
        granted(found(class.clone(), overridden(heals)));
        let more = json!({ "spec": { "type": "ClusterIP", "sessionAffinity": "None" } });
        refused(found(class, overridden(more)), "`spec.sessionAffinity`");
    }
}
