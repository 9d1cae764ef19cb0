//! The generated suite, which takes the lifecycle through everything that may happen to it, and the program in its sandbox.

use k8s_openapi::api::apps::v1::Deployment;
use kube::CustomResourceExt;
use lifecycle_runtime::This;
use lifecycle_suite::resources::{Site, Suite};
use serde_json::json;
use website_operator::lifecycle::{self, Rollout, Website, WebsiteLogic};
use website_operator::logic::Logic;

#[test]
fn no_fault_changes_where_it_ends() {
    let report = Suite::for_machine(|| lifecycle::machine(Logic))
        .define(&Website::crd())
        .fixtures(include_str!("fixtures.yaml"))
        .promise("rolls_out", |site| rolls_out(site, true))
        .promise("rolls_out", |site| rolls_out(site, false))
        .depth(3)
        .faults(60, 10)
        .run()
        .expect("the fixtures fit the lifecycle");
    assert!(report.failures.is_empty(), "{report}");
    assert!(report.unseen().is_empty(), "{report}");
}

/// Plays the controller of Deployments: the Pods run, or make no progress.
async fn rolls_out(site: Site, well: bool) -> kube::Result<bool> {
    let deployment = site.sibling_path("/apis/apps/v1", "deployments", site.name());
    site.edit(&deployment, |deployment| {
        let generation = deployment["metadata"]["generation"].clone();
        if deployment.pointer("/status/observedGeneration") == Some(&generation) {
            return;
        }
        let wanted = deployment["spec"]["replicas"].clone();
        let available = if well { wanted.clone() } else { json!(0) };
        let progress = json!({
            "type": "Progressing", "status": if well { "True" } else { "False" }, "reason": "Told", "message": "",
        });
        deployment["status"] = json!({
            "observedGeneration": generation, "replicas": wanted, "updatedReplicas": wanted,
            "readyReplicas": available, "availableReplicas": available, "conditions": [progress],
        });
    })
    .await
}

/// Two Pods are wanted, and the status of the Deployment counts some: all, updated, available.
#[test]
fn a_rollout_says_what_it_still_waits_for() {
    let website: Website = serde_json::from_value(json!({
        "apiVersion": "web.example.org/v1alpha1", "kind": "Website", "metadata": {"name": "a"},
        "spec": {"image": "a", "replicas": 2},
    }))
    .expect("it is a Website");
    let said = |generation: i64, [all, updated, available]: [i32; 3]| {
        let deployment: Deployment = serde_json::from_value(json!({
            "metadata": {"generation": 2},
            "status": {
                "observedGeneration": generation, "replicas": all, "updatedReplicas": updated, "availableReplicas": available,
            },
        }))
        .expect("it is a Deployment");
        let answer = Logic.rollout(This::new(&website), &deployment);
        (answer.value == Rollout::Done, answer.sentence)
    };
    let going = |sentence: &str| (false, sentence.to_owned());
    assert_eq!(
        said(1, [2, 2, 2]),
        going("the Deployment controller has not observed the newest Deployment yet")
    );
    assert_eq!(said(2, [3, 1, 2]), going("1 of 2 Pods are updated"));
    assert_eq!(
        said(2, [3, 2, 2]),
        going("old Pods that are still to end: 1")
    );
    assert_eq!(said(2, [2, 2, 1]), going("1 of 2 Pods are available"));
    assert!(said(2, [2, 2, 2]).0);
}

/// After a change of the lifecycle, its author copies the output of `cargo run -- manifests rbac`.
#[test]
fn the_rights_are_those_that_the_lifecycle_needs() {
    let rights = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/rbac.yaml");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_website-operator"))
        .args(["manifests", "rbac", "--check", rights])
        .output()
        .expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// The program with the rights of its manifest, and the example.
#[cfg(feature = "sandbox")]
#[test]
fn the_sandbox_takes_the_example_to_ready() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/example.yaml");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_website-operator"))
        .args(["sandbox", "--once", "--timeout", "120", example])
        .env_remove("CONSOLE_LOG_LEVEL")
        .output()
        .expect("the program starts");
    let told = String::from_utf8_lossy(&output.stdout);
    let warned = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}{warned}");
    assert!(told.contains("default/example  Ready"), "{told}");
    assert_eq!(warned, "", "a right is missing, or something went wrong");
}
