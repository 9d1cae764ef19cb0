//! The rights that `manifests rbac --for` prints: a user with exactly these rights is never refused
//! in `explain` and `plan`.

use lifecycle_tests::harness::{Case, Need, blocking};
use serde_json::Value;

use crate::sandbox::Sandbox;

const EXAMPLES: [&str; 2] = [
    "deploy/examples/nodeport.yaml",
    "deploy/examples/explain.yaml",
];
/// Command that applies a site with another port for its Connector, because only one sandbox at a
/// time can echo on the default port.
const SITE: &str = "sed s/7007/7999/ deploy/examples/skupper.yaml | kubectl apply -f -";

const OBJECTS: [&str; 6] = [
    "listeners.listeners.stackable.tech/web",
    "listeners.listeners.stackable.tech/outside",
    "persistentvolumeclaims/web-0",
    "sites.skupper.io/west",
    "listeners.skupper.io/orders",
    "connectors.skupper.io/echo",
];

pub(crate) fn cases() -> Vec<Case> {
    vec![blocking(
        "whoever_has_the_rights_that_are_printed_is_refused_nothing",
        &[Need::Binaries],
        whoever_has_the_rights_that_are_printed_is_refused_nothing,
    )]
}

fn whoever_has_the_rights_that_are_printed_is_refused_nothing() {
    let sandbox = Sandbox::start(&EXAMPLES);
    let said = sandbox.prints(SITE);
    assert_eq!(said.matches(" created\n").count(), 3, "{said}");
    for (purpose, user) in [("explain", "support"), ("plan", "planner")] {
        for part in ["controller", "skupper"] {
            let made = format!(
                "lifecycle-operator manifests rbac --for {purpose} --part {part} --user {user} | kubectl apply -f -"
            );
            let said = sandbox.prints(&made);
            // A plan of sites reads the key of their controller, in its namespace.
            let roles = match (purpose, part) {
                ("plan", "skupper") => 2,
                (_, _) => 1,
            };
            let made = said.matches(" created\n").count();
            assert_eq!(made, 2 * roles, "{said}");
        }
    }
    for object in OBJECTS {
        let said = sandbox.prints(&format!(
            "lifecycle-operator explain {object} -o json --as support"
        ));
        let told: Value = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}"));
        assert_eq!(told["unread"], Value::Array(Vec::new()), "{said}");
        assert!(!said.contains("the right is missing"), "{said}");
    }
    for part in [
        "controller",
        "--operator-namespace skupper skupper --router-image a/b:1",
    ] {
        let said = sandbox.prints(&format!("lifecycle-operator plan --as planner {part}"));
        assert!(said.contains("the operator manages"), "{said}");
    }
    let refused = sandbox.prints("lifecycle-operator plan --as support controller");
    assert!(
        refused.contains(
            "list customresourcedefinitions.apiextensions.k8s.io: the right to do so is missing"
        ),
        "{refused}"
    );
}
