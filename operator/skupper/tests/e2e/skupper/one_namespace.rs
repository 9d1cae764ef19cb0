//! A controller of one namespace, which has rights there alone.

use std::process::Command;
use std::sync::Arc;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::site::Site;
use lifecycle_tests::api_server::Options;
use lifecycle_tests::harness::{Case, case};
use serde_json::json;

use super::support::{NEEDS, listen};
use crate::PROGRAM;
use crate::place::{HOME, TestEnv, TestNamespace, manifest, report};

pub(crate) fn cases() -> Vec<Case> {
    vec![case(
        "a_role_is_enough_for_the_sites_of_one_namespace_by_an_option_or_a_variable",
        NEEDS,
        role,
    )]
}

/// Returns the manifest with a Role instead of the ClusterRole, as described in `docs/skupper.md`.
fn within_home() -> Result<String> {
    let cluster = "  name: skupper-controller\n";
    let within = format!("  name: skupper-sites\n  namespace: {HOME}\n");
    let documents = manifest()?;
    let documents = documents.split("\n---\n").map(|document| {
        if !document.contains("kind: ClusterRole") {
            return document.to_owned();
        }
        document
            .replace("kind: ClusterRole", "kind: Role")
            .replacen(cluster, &within, 1)
            .replacen(cluster, "  name: skupper-sites\n", 1)
    });
    Ok(documents.collect::<Vec<_>>().join("\n---\n"))
}

async fn role() -> Result<()> {
    let printed = Command::new(PROGRAM).arg("crd").output()?;
    let objects = [String::from_utf8(printed.stdout)?, within_home()?];
    let env = TestEnv::bare(Options::default().with_controllers(), &objects).await?;
    let env = Arc::new(env);
    let other = TestNamespace::new(Arc::clone(&env), "other").await?;
    let home = other.controller();
    for place in [&other, &home] {
        place.make::<Site>("west", json!({ "spec": {} })).await?;
    }
    let by_option: (&[&str], _) = (&["--watch-namespace", HOME], None);
    let by_variable = (&[][..], Some(("WATCH_NAMESPACE", HOME)));
    for (name, (options, variable)) in [("option", by_option), ("variable", by_variable)] {
        env.run_controller_with(options, variable.as_slice())?;
        for place in [&other, &home] {
            listen(place, name, json!({})).await?;
        }
        let what = "the Service of the Listener is there";
        home.until(name, what, |_: &Service| true).await?;
        let what = "the Listener is reported";
        let is_reported = |listener: &Listener| !report(listener).0.is_empty();
        home.until(name, what, is_reported).await?;
        let log = env.log();
        ensure!(!log.contains("forbidden"), "{log}");
        env.kill_controller()?;
    }
    let config = other.api::<ConfigMap>().get_opt("skupper-router").await?;
    ensure!(config.is_none(), "it manages another namespace");
    for name in ["option", "variable"] {
        let listener = other.api::<Listener>().get(name).await?;
        ensure!(report(&listener).0.is_empty(), "{listener:?}");
    }
    Ok(())
}
