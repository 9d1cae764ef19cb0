//! Tests of the rules in the definition of a ListenerClass: the entries that an API server refuses,
//! each with its message. The schema of the simulated server evaluates the rules, without a server.

use lifecycle_simulator::schema::Schema;
use lifecycle_specs_listener::crds;
use serde_json::{Value, json};

const NAMESPACE: &str = "must be the name of a namespace, or the beginning of one followed by `*`";
const PATH: &str = "must be the path of a field of a Service, such as `spec.sessionAffinity`, `spec.ports[*].nodePort` or `metadata.annotations['example.org/a']`";
const LIST: &str = "`spec.ports` is a list: write `spec.ports[*].` before a field of its items";
const SUFFIX: &str = "must be a DNS name such as `web.example.com`: lower-case letters, digits, `-` and `.`, with a letter at the beginning of its last label";

/// Wrong entries, each with its list and the message.
const WRONG: [(&str, &str, &str); 22] = [
    ("allowedNamespaces", "", NAMESPACE),
    ("allowedNamespaces", "Team", NAMESPACE),
    ("allowedNamespaces", "team-", NAMESPACE),
    ("allowedNamespaces", "-team*", NAMESPACE),
    ("allowedNamespaces", "*team", NAMESPACE),
    ("allowedNamespaces", "team*a", NAMESPACE),
    ("allowedNamespaces", "team a", NAMESPACE),
    ("allowedOverrides", "", PATH),
    ("allowedOverrides", ".spec", PATH),
    ("allowedOverrides", "spec.", PATH),
    ("allowedOverrides", "spec.ports[0].nodePort", PATH),
    ("allowedOverrides", "metadata.annotations[a]", PATH),
    ("allowedOverrides", "metadata.annotations['']", PATH),
    (
        "allowedOverrides",
        "metadata.annotations.example.org/a",
        PATH,
    ),
    ("allowedOverrides", "spec.ports.nodePort", LIST),
    ("allowedOverrides", "spec.ports.nodePort[*]", LIST),
    ("allowedExternalNameSuffixes", "", SUFFIX),
    ("allowedExternalNameSuffixes", "Example.com", SUFFIX),
    ("allowedExternalNameSuffixes", ".example.com", SUFFIX),
    ("allowedExternalNameSuffixes", "*.example.com", SUFFIX),
    ("allowedExternalNameSuffixes", "example.com.", SUFFIX),
    ("allowedExternalNameSuffixes", "192.0.2.1", SUFFIX),
];

/// Entries that resemble wrong ones.
const RIGHT: [(&str, &str); 10] = [
    ("allowedNamespaces", "team"),
    ("allowedNamespaces", "team-*"),
    ("allowedNamespaces", "*"),
    ("allowedOverrides", "spec.ports"),
    ("allowedOverrides", "spec.portsOfMine"),
    ("allowedOverrides", "spec.ports[*].nodePort"),
    ("allowedOverrides", "metadata.annotations['example.org/a']"),
    ("allowedExternalNameSuffixes", "com"),
    ("allowedExternalNameSuffixes", "example.com"),
    ("allowedExternalNameSuffixes", "4.example.com"),
];

/// The schema of a ListenerClass.
fn schema() -> Schema {
    let mut all = crds().into_iter();
    let class = all.find(|one| one.spec.names.kind == "ListenerClass");
    let version = &class.expect("it is one of the kinds").spec.versions[0];
    let schema = serde_json::to_value(&version.schema).expect("a definition is JSON");
    Schema::of_crd(&schema["openAPIV3Schema"]).expect("the definition is structural")
}

/// The fields and messages that the API server reports for a class with one entry in a list.
fn reported(schema: &Schema, list: &str, entry: &str) -> Vec<(String, String)> {
    let class = json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1",
        "kind": "ListenerClass",
        "metadata": { "name": "c" },
        "spec": { "serviceType": "NodePort", list: [Value::from(entry)] },
    });
    let causes = schema.validate(None, &class).into_iter();
    causes.map(|cause| (cause.field, cause.message)).collect()
}

#[test]
fn a_wrong_entry_of_a_class_is_refused_with_a_sentence() {
    let schema = schema();
    for (list, entry, message) in WRONG {
        let found = reported(&schema, list, entry);
        let [(field, text)] = &found[..] else {
            panic!("{list} `{entry}`: {found:?}");
        };
        assert_eq!(*field, format!("spec.{list}[0]"), "`{entry}`");
        assert!(text.ends_with(message), "{list} `{entry}`: {text}");
    }
}

#[test]
fn an_entry_that_resembles_a_wrong_one_is_accepted() {
    let schema = schema();
    for (list, entry) in RIGHT {
        let found = reported(&schema, list, entry);
        assert!(found.is_empty(), "{list} `{entry}`: {found:?}");
    }
}
