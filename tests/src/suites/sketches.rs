//! Suites of the small lifecycles of the language's documentation, and the functions that keep
//! their promises.

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::PostParams;
use kube::{Api, CustomResourceExt};
use lifecycle_runtime::crds::unobserved;
use lifecycle_runtime::provider::Limit;
use lifecycle_suite::resources::{Site, Suite};
use serde_json::{Value, json};

use crate::lifecycles::bucket::{self, Bucket, InStore, Store};
use crate::lifecycles::canary::{self, Canary, Steps};
use crate::lifecycles::front::{self, Front, Web};
use crate::lifecycles::git::{self, FromForge, GitRepository, Remotes};
use crate::lifecycles::preview::{self, Pages, Preview};
use crate::lifecycles::provider::{Provider, ProviderState};
use crate::lifecycles::rollout::{self, App, Rollout};
use crate::lifecycles::schedule::{self, ByLine, Schedule};
use crate::lifecycles::skupper::{self, InNetwork, Network, Routers};
use crate::lifecycles::skupper_listener::{self, AtSite, Router};
use crate::lifecycles::topic::{self, AtBroker, Broker, Topic};

/// Returns the suite of an application whose database is migrated.
pub fn rollout() -> Suite {
    Suite::for_machine(|| rollout::machine(Rollout))
        .define(&App::crd())
        .fixtures(include_str!("../../fixtures/rollout/app.yaml"))
        .fixtures(include_str!("../../fixtures/rollout/configmap.yaml"))
        .promise("finishes", |site| migrates(site, true))
        .promise("finishes", |site| migrates(site, false))
        .promise("rolls", |site| rolls(site, true))
        .promise("rolls", |site| rolls(site, false))
}

/// The suite of a web server and everything around it.
pub fn front() -> Suite {
    Suite::for_machine(|| front::machine(Web))
        .define(&Front::crd())
        .fixtures(include_str!("../../fixtures/front/front.yaml"))
        .promise("rolls_out", |site| rolls(site, true))
        .promise("rolls_out", |site| rolls(site, false))
}

/// The suite of a version that gets traffic step by step.
pub fn canary() -> Suite {
    let version = |site: &Site| {
        let version = site.object["spec"]["version"].as_str().unwrap_or_default();
        format!("{}-{version}", site.name())
    };
    let settles = |site: Site| async move {
        let name = site.name().to_owned();
        comes_up(site, &name, true).await
    };
    let rolls = move |well: bool| {
        move |site: Site| async move {
            let name = version(&site);
            comes_up(site, &name, well).await
        }
    };
    Suite::for_machine(|| canary::machine(Steps))
        .define(&Canary::crd())
        .fixtures(include_str!("../../fixtures/canary/canary.yaml"))
        .fixtures(include_str!("../../fixtures/canary/configmap.yaml"))
        .promise("settles", settles)
        .promise("rolls", rolls(true))
        .promise("rolls", rolls(false))
        .promise("measures", |site| migrates(site, true))
        .promise("measures", |site| migrates(site, false))
}

/// The suite of a Job that a cron line has run.
pub fn schedule() -> Suite {
    let ends = |well: bool| {
        move |site: Site| async move {
            let name = site.name().to_owned();
            ends(site, &name, well).await
        }
    };
    Suite::for_machine(|| schedule::machine(ByLine))
        .define(&Schedule::crd())
        .fixtures(include_str!("../../fixtures/schedule/schedule.yaml"))
        .promise("ends", ends(true))
        .promise("ends", ends(false))
}

/// The suite of a page that time puts up and takes down.
pub fn preview() -> Suite {
    Suite::for_machine(|| preview::machine(Pages))
        .define(&Preview::crd())
        .fixtures(include_str!("../../fixtures/preview/preview.yaml"))
}

/// Returns the suite of a bucket in a store outside the cluster.
pub fn bucket() -> Suite {
    let machine = |store: Store, line| bucket::machine(InStore(store.on(line)));
    Suite::outside(Store::default, machine)
        .define(&Bucket::crd())
        .fixtures(include_str!("../../fixtures/bucket/bucket.yaml"))
        .provider("cloud", Limit::new().in_flight(1))
}

/// Returns the suite of a topic that a user may suspend.
pub fn topic() -> Suite {
    let machine = |broker: Broker, line| topic::machine(AtBroker(broker.on(line)));
    Suite::outside(Broker::default, machine)
        .define(&unobserved(Topic::crd()))
        .fixtures(include_str!("../../fixtures/topic/topic.yaml"))
        .fixtures(include_str!("../../fixtures/topic/configmap.yaml"))
}

/// Returns the suite of a Git repository with a stored archive.
pub fn git() -> Suite {
    let machine = |remotes: Remotes, line| git::machine(FromForge(remotes.on(line)));
    Suite::outside(Remotes::default, machine)
        .define(&unobserved(GitRepository::crd()))
        .fixtures(include_str!("../../fixtures/git/gitrepository.yaml"))
        .fixtures(include_str!("../../fixtures/git/secret.yaml"))
        .provider("forge", Limit::new().in_flight(2).per_second(2).burst(2))
}

/// The suite of a listener of a network of routers.
pub fn skupper() -> Suite {
    let machine = |network: Network, line| skupper::machine(InNetwork(network.on(line)));
    let network = || {
        let network = Network::default();
        network.with_state(|routers| {
            routers.perturb("offer");
            routers.taken.insert(9);
        });
        network
    };
    Suite::outside(network, machine)
        .define(&skupper::Listener::crd())
        .define(&skupper::Site::crd())
        .fixtures(include_str!("../../fixtures/skupper/listener.yaml"))
        .fixtures(include_str!("../../fixtures/skupper/secret.yaml"))
        .fixtures(include_str!("../../fixtures/skupper/site.yaml"))
        .promise("answers", |site| async move {
            Ok(site.outside::<Network>().is_some_and(|n| n.set_down(false)))
        })
        .promise("binds", |site| async move {
            let network = site.outside::<Network>();
            Ok(network.is_some_and(|n| changes(n, Routers::bind)))
        })
}

/// Returns the suite of a listener whose site determines its port.
pub fn skupper_listener() -> Suite {
    let machine = |router: Router, line| skupper_listener::machine(AtSite(router.on(line)));
    let router = || {
        let router = Router::default();
        router.with_state(|state| state.perturb("offer"));
        router
    };
    Suite::outside(router, machine)
        .define(&skupper_listener::Listener::crd())
        .define(&skupper_listener::Site::crd())
        .fixtures(include_str!(
            "../../fixtures/skupper_listener/configmap.yaml"
        ))
        .fixtures(include_str!(
            "../../fixtures/skupper_listener/listener.yaml"
        ))
        .fixtures(include_str!("../../fixtures/skupper_listener/secret.yaml"))
        .fixtures(include_str!("../../fixtures/skupper_listener/site.yaml"))
        .promise("written", writes)
        .promise("claimed", claims)
        .promise("answers", reads)
        .promise("follows", reads)
}

/// Returns true if this changes the state that a provider keeps.
fn changes<S: ProviderState + PartialEq>(
    provider: &Provider<S>,
    change: impl FnOnce(&mut S),
) -> bool {
    provider.with_state(|state| {
        let before = state.clone();
        change(state);
        *state != before
    })
}

/// The Site writes its table.
async fn writes(site: Site) -> kube::Result<bool> {
    let tables: Api<ConfigMap> = Api::namespaced(site.client().clone(), "default");
    let name = Some("default".to_owned());
    let table = ConfigMap {
        metadata: ObjectMeta {
            name,
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    };
    match tables.create(&PostParams::default(), &table).await {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(false),
        Err(error) => Err(error),
    }
}

/// The Site gives the Listener a port.
async fn claims(site: Site) -> kube::Result<bool> {
    let table = site.sibling_path("/api/v1", "configmaps", "default");
    let uid = site.object["metadata"]["uid"].as_str().unwrap_or_default();
    let line = format!("{uid} 1024");
    site.edit(&table, |table| {
        let lines = table
            .as_object_mut()
            .map(|t| t.entry("data").or_insert_with(|| json!({})));
        if let Some(lines) = lines {
            lines[site.name()] = json!(line);
        }
    })
    .await
}

/// The router answers, and reads the table of the Site.
async fn reads(site: Site) -> kube::Result<bool> {
    let Some(router) = site.outside::<Router>() else {
        return Ok(false);
    };
    let was_down = router.set_down(false);
    let table = site
        .get(&site.sibling_path("/api/v1", "configmaps", "default"))
        .await?;
    let table = table.map(serde_json::from_value::<ConfigMap>);
    let table = table
        .transpose()
        .map_err(kube::Error::SerdeError)?
        .unwrap_or_default();
    Ok(changes(router, |state| state.read(&table)) || was_down)
}

const THEN: &str = "2026-01-01T01:00:00Z";

fn condition(kind: &str, status: &str) -> Value {
    json!({ "type": kind, "status": status, "reason": "Tests", "message": "", "lastProbeTime": THEN, "lastTransitionTime": THEN })
}

/// The Job of the wanted version ends.
pub(super) async fn migrates(site: Site, well: bool) -> kube::Result<bool> {
    let version = site.object["spec"]["version"].as_str().unwrap_or_default();
    let job = format!("{}-{version}", site.name());
    ends(site, &job, well).await
}

/// The Job of this name ends.
async fn ends(site: Site, name: &str, well: bool) -> kube::Result<bool> {
    let job = site.sibling_path("/apis/batch/v1", "jobs", name);
    site.edit(&job, |job| {
        if job.pointer("/status/conditions/1").is_some() {
            return;
        }
        let mut status = json!({ "startTime": THEN, "uncountedTerminatedPods": {} });
        if well {
            status["completionTime"] = json!(THEN);
            status["succeeded"] = json!(1);
            status["conditions"] = json!([
                condition("SuccessCriteriaMet", "True"),
                condition("Complete", "True")
            ]);
        } else {
            status["failed"] = json!(1);
            status["conditions"] = json!([
                condition("FailureTarget", "True"),
                condition("Failed", "True")
            ]);
        }
        job["status"] = status;
    })
    .await
}

/// The Deployment is reconciled, or comes no further.
async fn rolls(site: Site, well: bool) -> kube::Result<bool> {
    let name = site.name().to_owned();
    comes_up(site, &name, well).await
}

/// The Deployment of this name is reconciled, or comes no further.
async fn comes_up(site: Site, name: &str, well: bool) -> kube::Result<bool> {
    let deployment = site.sibling_path("/apis/apps/v1", "deployments", name);
    site.edit(&deployment, |deployment| {
        let generation = deployment["metadata"]["generation"].clone();
        if deployment.pointer("/status/observedGeneration") == Some(&generation) {
            return;
        }
        let wanted = deployment["spec"]["replicas"].clone();
        let there = if well { wanted.clone() } else { json!(0) };
        let mut progress = condition("Progressing", if well { "True" } else { "False" });
        if let Some(fields) = progress.as_object_mut() {
            fields.remove("lastProbeTime");
        }
        deployment["status"] = json!({
            "observedGeneration": generation, "replicas": wanted, "updatedReplicas": wanted,
            "readyReplicas": there, "availableReplicas": there, "conditions": [progress],
        });
    })
    .await
}
