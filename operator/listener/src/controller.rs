//! Work of the controller of Listeners, and its preparation. Decides nothing about any object.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kube::Client;
use kube::runtime::events::{Recorder, Reporter};
use lifecycle_cli::process::cluster_domain::ClusterDomain;
use lifecycle_runtime::controller::Trace;
use lifecycle_runtime::crds::Kinds;
use lifecycle_runtime::health::Health;
use lifecycle_runtime::lease::Leadership;
use lifecycle_runtime::operator::{Error, Naming};
use lifecycle_runtime::retry::Retry;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_runtime::{Machine, Operator, cause};
use lifecycle_specs_listener::listener;
use tokio::time::timeout;

use crate::args::Preset;
use crate::listener::Exposure;
use crate::{presets, volume};

/// Name of the operator and of its API group, and prefix of its names in the cluster.
pub const NAME: &str = "listeners.stackable.tech";
/// The kinds of the operator. The replaced operator used this field manager as well, so fields that
/// we no longer write are removed.
pub const KINDS: Kinds = Kinds {
    group_version: "listeners.stackable.tech/v1alpha1",
    manager: "listener-operator",
    printed_by: "listener-operator crd",
    definitions: lifecycle_specs_listener::crds,
};
/// Setting of a recording: the domain below which cluster DNS names Services.
pub const CLUSTER_DOMAIN: &str = "kubernetesClusterDomain";
/// `reportingController` of its events.
const REPORTER: &str = "listener.listeners.stackable.tech";
/// The part of the process that creates the classes of the preset.
const CLASSES: &str = "classes";
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How long reconciling waits for the labels of volumes.
const LABELLED_WITHIN: Duration = Duration::from_secs(10);

/// Options of the controller.
#[derive(Clone, Debug)]
pub struct Options {
    /// The domain below which cluster DNS names Services.
    pub cluster_domain: ClusterDomain,
    /// The kinds, and how this program prints them.
    pub kinds: Kinds,
    /// True if the controller installs and updates CustomResourceDefinitions.
    pub maintain_crds: bool,
    /// The classes to create where they are missing.
    pub preset: Preset,
    /// The Lease that decides which replica writes; without it this one always does.
    pub leadership: Option<Leadership>,
    /// The bytes of the largest object that is read of its kinds.
    pub max_object_size: usize,
    /// Namespaces with managed Listeners; all namespaces if empty.
    pub watched: BTreeSet<String>,
    /// Endpoint of the service that provisions volumes; without it none are provisioned.
    pub csi_endpoint: Option<String>,
    /// Health state in which its parts report readiness.
    pub health: Health,
}

/// Prepares the cluster and runs the Listener lifecycle until the shutdown.
///
/// # Errors
/// Only for a lifecycle that cannot be reconciled; an API server that does not answer is waited for.
pub async fn run_controller(
    client: Client,
    options: Options,
    shutdown: Shutdown,
) -> Result<(), Error> {
    run_observed(client, options, None, shutdown).await
}

/// As `run_controller`, with an observer.
///
/// # Errors
/// As `run_controller`.
pub async fn run_observed(
    client: Client,
    options: Options,
    observer: Option<Arc<dyn Trace>>,
    shutdown: Shutdown,
) -> Result<(), Error> {
    let health = options.health;
    let mut operator = Operator::new(NAME)
        .health(health.clone())
        .definitions(options.kinds, options.maintain_crds)
        .max_object_size(options.max_object_size)
        .namespaces(options.watched);
    for (machine, naming) in lifecycles(&options.cluster_domain) {
        operator = operator.run_shared(machine, naming);
    }
    if let Some(endpoint) = options.csi_endpoint {
        operator = operator.with_service(volume::provisions(NAME, &endpoint));
    }
    if let Some(leadership) = options.leadership {
        operator = operator.leadership(leadership);
    }
    if let Some(observer) = observer {
        operator = operator.trace(observer);
    }
    let (preset, cluster) = (options.preset, client.clone());
    let (first, later) = (client.clone(), client.clone());
    let labelled = Arc::new(AtomicBool::new(false));
    let done = Arc::clone(&labelled);
    let operator = operator.before_writing(async move {
        done.store(labelled_first(&first).await, Ordering::Relaxed);
    });
    let operator = operator.once_leading(async move {
        if !labelled.load(Ordering::Relaxed) {
            retried(|| volume::label(&later)).await;
        }
    });
    let operator = operator.once_leading(async move {
        health.waits(
            CLASSES,
            "the ListenerClasses of the preset are not there yet",
        );
        create_classes(&cluster, preset).await;
        health.works(CLASSES);
    });
    operator.start(client, shutdown).await
}

/// The lifecycles that it runs, each with its names.
pub fn lifecycles(cluster_domain: &ClusterDomain) -> Vec<(Arc<dyn Machine>, Naming)> {
    let logic = Exposure {
        cluster_domain: cluster_domain.to_string(),
    };
    vec![(Arc::new(listener::machine(logic)), naming())]
}

/// Returns the names under which the replaced operator wrote these objects, so that its fields are
/// ours.
fn naming() -> Naming {
    Naming {
        manager: format!("{NAME}/{NAME}_listener"),
        status_manager: format!("{NAME}/listener"),
        reporter: REPORTER.to_owned(),
        ..Naming::new(NAME, listener::IR.name)
    }
}

/// Labels volumes before any status is written, and returns true if that succeeds. Without the
/// labels no Listener finds its reserved node, and its first status would drop an address that is
/// still right.
async fn labelled_first(client: &Client) -> bool {
    let labelled = timeout(LABELLED_WITHIN, volume::label(client));
    matches!(labelled.await, Ok(Ok(())))
}

/// Tries until the classes are there.
async fn create_classes(client: &Client, preset: Preset) {
    let reporter = Reporter {
        controller: REPORTER.to_owned(),
        instance: std::env::var("HOSTNAME").ok(),
    };
    let events = Recorder::new(client.clone(), reporter);
    retried(|| presets::ensure(client, preset, &events)).await;
}

/// Retries until it succeeds. Each distinct error is logged once.
pub(crate) async fn retried<E, F>(attempt: impl Fn() -> F)
where
    E: std::error::Error + 'static,
    F: Future<Output = Result<(), E>>,
{
    let mut retry = Retry::new(LONGEST_PAUSE);
    while let Err(error) = attempt().await {
        let reason = cause::in_one_line(&error);
        if retry.is_new(&reason) {
            tracing::warn!("{reason}; trying again");
        }
        retry.pause().await;
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::coordination::v1::Lease;
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
    use kube::api::{Api, PostParams};
    use lifecycle_cli::process::cluster_domain;
    use lifecycle_runtime::crds;
    use lifecycle_simulator::{Server, User};
    use lifecycle_specs_listener::listener_class::ListenerClass;
    use serde_json::json;
    use tokio::time::sleep;

    use super::*;

    const LEASE: &str = "lease";

    /// Another process has the Lease for ten minutes, and is never heard of again.
    async fn is_led_by_another(client: &Client) {
        let held: Lease = serde_json::from_value(json!({
            "metadata": { "name": LEASE },
            "spec": { "holderIdentity": "another", "leaseDurationSeconds": 600 },
        }))
        .unwrap();
        let leases = Api::namespaced(client.clone(), "default");
        leases.create(&PostParams::default(), &held).await.unwrap();
    }

    fn options(health: &Health) -> Options {
        Options {
            cluster_domain: cluster_domain::resolve(None),
            kinds: KINDS,
            maintain_crds: true,
            preset: Preset::StableNodes,
            leadership: Some(Leadership {
                namespace: "default".to_owned(),
                name: LEASE.to_owned(),
                identity: "this".to_owned(),
            }),
            max_object_size: lifecycle_runtime::operator::MAX_OBJECT_SIZE,
            watched: std::collections::BTreeSet::new(),
            csi_endpoint: None,
            health: health.clone(),
        }
    }

    /// The replica that leads may be of another version, with another preset.
    #[tokio::test(start_paused = true)]
    async fn no_class_is_created_before_it_leads() {
        let server = Server::new(1);
        let client = server.client(&User::admin());
        crds::prepare(&client, &KINDS, true).await;
        is_led_by_another(&client).await;
        let (trigger, shutdown) = Shutdown::pair();
        let health = Health::default();
        let running = tokio::spawn(run_controller(client.clone(), options(&health), shutdown));
        let classes: Api<ListenerClass> = Api::all(client);
        let count = async || classes.list(&Default::default()).await.unwrap().items.len();
        sleep(Duration::from_secs(590)).await;
        assert_eq!(count().await, 0);
        let notes = health.notes();
        let [(part, note)] = &*notes else {
            panic!("{notes:?}")
        };
        assert_eq!(part, "lease");
        assert!(note.contains("held by another"), "{note}");
        sleep(Duration::from_secs(60)).await;
        assert_eq!(count().await, 3);
        assert_eq!((health.missing(), health.notes()), (vec![], vec![]));
        trigger.stop();
        running.await.unwrap().unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn no_definition_is_written_before_it_leads() {
        let server = Server::new(1);
        let client = server.client(&User::admin());
        is_led_by_another(&client).await;
        let (trigger, shutdown) = Shutdown::pair();
        let health = Health::default();
        let running = tokio::spawn(run_controller(client.clone(), options(&health), shutdown));
        let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
        let count = async || {
            let all = definitions.list(&Default::default()).await.unwrap();
            let ours = all.items.iter();
            ours.filter(|one| one.spec.group == NAME).count()
        };
        sleep(Duration::from_secs(590)).await;
        assert_eq!(count().await, 0);
        let missing = health.missing();
        let waits = |(part, why): &(String, String)| part == "definitions" && why.contains(NAME);
        assert!(missing.iter().any(waits), "{missing:?}");
        sleep(Duration::from_secs(60)).await;
        assert_eq!(count().await, lifecycle_specs_listener::crds().len());
        let classes: Api<ListenerClass> = Api::all(client);
        assert_eq!(
            classes.list(&Default::default()).await.unwrap().items.len(),
            3
        );
        assert_eq!((health.missing(), health.notes()), (vec![], vec![]));
        trigger.stop();
        running.await.unwrap().unwrap();
    }

    /// Tests that a shutdown while it waits for the kinds ends it normally.
    #[tokio::test(start_paused = true)]
    async fn b6_it_ends_while_it_waits_for_who_writes_the_definitions() {
        let server = Server::new(1);
        let client = server.client(&User::admin());
        is_led_by_another(&client).await;
        let (trigger, shutdown) = Shutdown::pair();
        let health = Health::default();
        let running = tokio::spawn(run_controller(client, options(&health), shutdown));
        sleep(Duration::from_secs(30)).await;
        assert!(!running.is_finished());
        trigger.stop();
        running.await.unwrap().unwrap();
    }

    #[test]
    fn the_group_is_that_of_the_definitions() {
        for definition in lifecycle_specs_listener::crds() {
            let spec = definition.spec;
            let served = format!("{}/{}", spec.group, spec.versions[0].name);
            assert_eq!(served, KINDS.group_version);
        }
    }

    #[test]
    fn everything_is_written_under_the_names_of_the_replaced_operator() {
        let naming = naming();
        assert_eq!(
            naming.manager,
            "listeners.stackable.tech/listeners.stackable.tech_listener"
        );
        assert_eq!(naming.status_manager, "listeners.stackable.tech/listener");
        assert_eq!(naming.reporter, "listener.listeners.stackable.tech");
        assert_eq!(naming.action, "Reconcile");
    }
}
