//! Tests that pin the output of `explain` word for word, for each kind of a site in each of its
//! states.

use std::path::Path;

use lifecycle_inspect::explain::Explained;
use lifecycle_runtime::operator::Naming;
use lifecycle_skupper::controller::lifecycles;
use lifecycle_skupper::data_plane::DataPlane;
use lifecycle_suite::resources::Suite;
use lifecycle_tests::explained::holds_texts;
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;

use crate::suites;

pub(crate) fn cases() -> Vec<Case> {
    named![calculation(): each_state_of_a_site_has_a_text_to_act_on, each_state_of_a_listener_has_a_text_to_act_on, each_state_of_a_multi_key_listener_has_a_text_to_act_on, each_state_of_a_connector_has_a_text_to_act_on, each_state_of_a_link_has_a_text_to_act_on, each_state_of_a_grant_has_a_text_to_act_on, each_state_of_a_certificate_has_a_text_to_act_on, each_state_of_a_token_has_a_text_to_act_on, each_state_of_an_attached_connector_has_a_text_to_act_on, each_state_of_a_binding_has_a_text_to_act_on, each_state_of_a_secured_access_has_a_text_to_act_on, each_state_of_a_router_access_has_a_text_to_act_on]
}

/// Checks the texts of a kind. `excused` are states that its suite does not reach in so few moves,
/// or in which no reconciliation was explained.
fn holds(suite: Suite, kind: &str, excused: &[&str]) {
    let all = lifecycles("kube-public", "controller").into_iter();
    let all = all.map(|(machine, _)| {
        let naming = Naming::new("suite.lifecycle", machine.ir().name);
        let one = Explained::new(machine, naming);
        match one.qualified_name().as_str() {
            "skupper.io/Site" => {
                one.not_compared("router", "its image is an option of the controller")
            }
            _ => one,
        }
    });
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/explain");
    holds_texts(suite, &all.collect::<Vec<_>>(), &folder.join(kind), excused);
}

fn each_state_of_a_site_has_a_text_to_act_on() {
    holds(
        suites::site(DataPlane::Embedded).depth(2),
        "site",
        &["Tidying"],
    );
}

fn each_state_of_a_listener_has_a_text_to_act_on() {
    let unseen = [
        "Conflict",
        "Rejected",
        "Blocked",
        "PodConflict",
        "Unreachable",
    ];
    holds(suites::listener().depth(2), "listener", &unseen);
}

fn each_state_of_a_multi_key_listener_has_a_text_to_act_on() {
    let unseen = ["Conflict", "Rejected", "Blocked", "Unreachable"];
    let suite = suites::multi_key_listener().depth(2);
    holds(suite, "multi_key_listener", &unseen);
}

fn each_state_of_a_connector_has_a_text_to_act_on() {
    holds(suites::connector().depth(2), "connector", &["Blocked"]);
}

fn each_state_of_a_link_has_a_text_to_act_on() {
    holds(suites::link().depth(2), "link", &["Blocked"]);
}

fn each_state_of_a_grant_has_a_text_to_act_on() {
    holds(suites::access_grant().depth(2), "access_grant", &[]);
}

fn each_state_of_a_token_has_a_text_to_act_on() {
    let passing = ["Noting", "Keeping", "LinkTaken", "Linking"];
    holds(suites::access_token().depth(3), "access_token", &passing);
}

fn each_state_of_an_attached_connector_has_a_text_to_act_on() {
    holds(suites::attached().depth(3), "attached", &[]);
}

fn each_state_of_a_binding_has_a_text_to_act_on() {
    holds(
        suites::binding().depth(2),
        "binding",
        &["Unselected", "Blocked"],
    );
}

fn each_state_of_a_certificate_has_a_text_to_act_on() {
    holds(suites::certificate().depth(2), "certificate", &[]);
}

fn each_state_of_a_secured_access_has_a_text_to_act_on() {
    holds(suites::secured_access().depth(2), "secured_access", &[]);
}

fn each_state_of_a_router_access_has_a_text_to_act_on() {
    holds(suites::router_access().depth(2), "router_access", &[]);
}
