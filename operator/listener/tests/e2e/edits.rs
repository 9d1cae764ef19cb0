//! Whatever others do to what the operator writes, on a real API server: every place of a Service of each type, and of the status of a Listener, is ours
//! again within two seconds. Prints figures.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::Service;
use kube::Api;
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::listener_class::ListenerClass;
use lifecycle_tests::api_server::Options;
use lifecycle_tests::edits::{self, Object, Rules};
use lifecycle_tests::harness::{Case, Need};
use lifecycle_tests::named;
use serde_json::json;

use crate::PROGRAM;
use crate::listeners::{Cluster, ExpectedCondition, message};

const BINARIES: &[Need] = &[Need::Binaries];

pub(crate) fn cases() -> Vec<Case> {
    named![case(BINARIES): every_place_is_ours_again_whatever_others_do_to_it]
}

/// The operator's promise (`docs/install.md`).
const BOUND: Duration = Duration::from_secs(2);
/// The longest that it may take of every check.
const LIMIT: Duration = Duration::from_secs(180);

const TYPES: [&str; 3] = ["ClusterIP", "NodePort", "LoadBalancer"];

async fn every_place_is_ours_again_whatever_others_do_to_it() -> Result<()> {
    let cluster = Cluster::start_with(PROGRAM, Options::default()).await?;
    let began = Instant::now();
    for of in TYPES {
        let class = json!({
            "apiVersion": "listeners.stackable.tech/v1alpha1",
            "kind": "ListenerClass",
            "metadata": { "name": of.to_lowercase() },
            "spec": { "serviceType": of, "serviceAnnotations": { "class.example.org/is": of } },
        });
        cluster.make(cluster.all::<ListenerClass>(), class).await?;
    }
    let rules = Rules {
        bound: BOUND,
        exclusive: &["spec.ports"],
        told: &["metadata.ownerReferences"],
    };
    let counts = edits::all(&rules, async |number| group(&cluster, number).await, {
        async |object: &Object| is_told(&cluster, object).await
    });
    let counts = counts.await.map_err(|error| {
        // Of an object that did not heal the log says more than the end of it does of all.
        let said = format!("{error:#}");
        let name = said
            .split("default/")
            .nth(1)
            .and_then(|rest| rest.split(':').next());
        let log = cluster.log();
        let about = format!("default/{}`", name.unwrap_or_default());
        let lines: Vec<&str> = log.lines().filter(|line| line.contains(&about)).collect();
        error.context(lines.join("\n"))
    })?;
    eprintln!("all in {:?}", began.elapsed());
    let cases = |kind: &str| counts.get(kind).map_or(0, |counts| counts.cases);
    ensure!(
        (cases("Service"), cases("Listener status")) == (397, 170),
        "other places than before: {counts:?}"
    );
    ensure!(began.elapsed() < LIMIT, "{:?}", began.elapsed());
    Ok(())
}

/// A Listener of each type for its Service, and one for its status.
async fn group(cluster: &Cluster, number: usize) -> Result<Vec<Object>> {
    let spec = |class: &str| {
        json!({
            "className": class,
            "ports": [{ "name": "http", "port": 8080 }, { "name": "dns", "port": 53, "protocol": "UDP" }],
            "extraPodSelectorLabels": { "tier": "front" },
        })
    };
    let mut objects = Vec::new();
    for of in TYPES {
        let name = format!("{}-{number}", of.to_lowercase());
        cluster.create(&name, spec(&of.to_lowercase())).await?;
        objects.push(Object::new::<Service>(&cluster.client, "default", &name));
    }
    let told = format!("told-{number}");
    cluster.create(&told, spec("clusterip")).await?;
    for object in &objects {
        let made = ExpectedCondition("Programmed", "True", "Programmed");
        cluster.condition(object.name(), made).await?;
    }
    cluster.ready(&told).await?;
    let told = Object::new::<Listener>(&cluster.client, "default", &told);
    objects.push(told.status());
    Ok(objects)
}

/// Whether the Listener says that its Service is another's.
async fn is_told(cluster: &Cluster, object: &Object) -> Result<bool> {
    let listeners: Api<Listener> = cluster.of();
    let listener = listeners.get(object.name()).await?;
    let foreign = ExpectedCondition("Ready", "False", "ForeignService");
    Ok(foreign.holds_in(&listener) && message(&listener, "Ready").contains(object.name()))
}
