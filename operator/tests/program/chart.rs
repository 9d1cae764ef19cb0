//! The rules in the Helm charts, compared with the rules generated from the lifecycles. `BLESS=1
//! cargo test --workspace --test program chart` rewrites them.

use std::collections::BTreeSet;
use std::fmt::Write;

use lifecycle_generate::Purpose;
use lifecycle_generate::rights::Holder;
use lifecycle_operator::parts::program;
use lifecycle_runtime::yaml;
use serde_json::Value;

use crate::generated::{check, identity, root};

const HEAD: &str = "{{/* Made from the lifecycles by a test: see operator/tests/program/chart.rs. deploy/install and deploy/skupper have the same rules with their reasons. */}}\n";

/// Rules for these are apart, for only who maintains definitions needs them.
const DEFINITIONS: &str = "customresourcedefinitions";

/// Named template of a chart: its name, and the kind and the name of the role whose rules it holds.
type Template = (&'static str, &'static str, &'static str);

const LISTENERS: [Template; 6] = [
    (
        "listener-operator.rules.controller",
        "ClusterRole",
        "listener-operator-controller",
    ),
    (
        "listener-operator.rules.controller.watched",
        "Role",
        "listener-operator-controller-watched",
    ),
    (
        "listener-operator.rules.provisioner",
        "ClusterRole",
        "listener-operator-provisioner",
    ),
    (
        "listener-operator.rules.node",
        "ClusterRole",
        "listener-operator-node",
    ),
    (
        "listener-operator.rules.node.watched",
        "Role",
        "listener-operator-node-watched",
    ),
    (
        "listener-operator.rules.leases",
        "Role",
        "listener-operator-controller",
    ),
];

const SKUPPER: [Template; 1] = [(
    "skupper.rules.controller",
    "ClusterRole",
    "skupper-controller",
)];

/// A role: its kind and its name.
type Role = (String, String);

/// The rules of each role that the program needs: of the Listener operator, apart those that count in the namespaces that are watched.
fn roles() -> Vec<(Role, Vec<Value>)> {
    let mut roles = Vec::new();
    for part in program().parts() {
        let manifests = match part.name.as_str() {
            "skupper" => part.rights().manifests(&part.account),
            _ => {
                let holder = Holder::ServiceAccount(part.account.name.clone());
                let rights = part.rights_in_watched(Purpose::Run);
                rights.manifests_within(&part.account, &holder, &["watched".to_owned()])
            }
        };
        for document in manifests.split("---\n") {
            let role: Value = yaml::parse_one(document).unwrap();
            if let Some(rules) = role["rules"].as_array() {
                roles.push((identity(document), rules.clone()));
            }
        }
    }
    roles
}

fn join_words(rule: &Value, field: &str) -> String {
    let words = rule[field].as_array().into_iter().flatten();
    let words = words.map(|word| match word.as_str().unwrap() {
        "" => "\"\"",
        word => word,
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Rules as a template writes them, at the left edge.
fn text<'a>(rules: impl Iterator<Item = &'a Value>) -> String {
    let mut text = String::new();
    for rule in rules {
        writeln!(text, "- apiGroups: [{}]", join_words(rule, "apiGroups")).unwrap();
        writeln!(text, "  resources: [{}]", join_words(rule, "resources")).unwrap();
        if rule["resourceNames"].is_array() {
            writeln!(
                text,
                "  resourceNames: [{}]",
                join_words(rule, "resourceNames")
            )
            .unwrap();
        }
        writeln!(text, "  verbs: [{}]", join_words(rule, "verbs")).unwrap();
    }
    text
}

fn is_of_definitions(rule: &&Value) -> bool {
    join_words(rule, "resources") == DEFINITIONS
}

fn template(name: &str, text: &str) -> String {
    format!("\n{{{{- define \"{name}\" -}}}}\n{text}{{{{- end }}}}\n")
}

#[test]
fn rules_of_the_charts_follow_from_the_lifecycles() {
    let roles = roles();
    let mut used = BTreeSet::new();
    for (chart, templates) in [
        ("listener-operator", &LISTENERS[..]),
        ("skupper", &SKUPPER[..]),
    ] {
        let mut wanted = HEAD.to_owned();
        for (named, kind, name) in templates {
            let of = |(found, _): &&(Role, _)| found.0 == *kind && found.1 == *name;
            let (_, rules) = roles.iter().find(of).unwrap();
            let (definitions, others): (Vec<_>, Vec<_>) = rules.iter().partition(is_of_definitions);
            wanted += &template(named, &text(others.into_iter()));
            if !definitions.is_empty() {
                let named = format!("{chart}.rules.definitions");
                wanted += &template(&named, &text(definitions.into_iter()));
            }
            used.insert((*kind, *name));
        }
        let path = root().join(format!("deploy/charts/{chart}/templates/_rules.tpl"));
        check(&path, &wanted);
    }
    assert_eq!(used.len(), roles.len(), "a role is in no chart");
}
