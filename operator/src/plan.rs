//! `lifecycle-operator plan`: each part of the operator as `run` starts it, but in a copy of the
//! cluster, and without requests to any server but the API server.

use std::collections::BTreeSet;
use std::future::pending;
use std::io::stdout;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::{Client, ResourceExt};
use lifecycle_cli::process::cluster_domain::ClusterDomain;
use lifecycle_cli::process::{compared, logging};
use lifecycle_inspect::plan::{Operator, Plan, Verdict};
use lifecycle_listener::args::Preset;
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_skupper::args::SkupperArgs;
use lifecycle_skupper::platform::Platform;
use lifecycle_skupper::router::state::Routers;
use lifecycle_specs_skupper::router::RouterState;

use crate::args::{Part, Planning, Product};
use crate::wiring::kinds;

/// Prints the plan that the command line requests, and returns the exit code.
pub(crate) async fn run(options: Planning) -> ExitCode {
    compared(planned(options).await.map(|verdict| verdict as u8))
}

async fn planned(options: Planning) -> anyhow::Result<Verdict> {
    logging::begin_quietly()?;
    let Planning { plan, run } = options;
    let (live, _) = plan.connection.connect().await?;
    match &run.mode {
        Part::Controller(chosen) => {
            let told = Listeners {
                cluster_domain: run.cluster.kubernetes_cluster_domain.clone(),
                maintain_crds: !run.cluster.disable_crd_maintenance,
                max_object_size: run.cluster.max_object_bytes(),
                watched: run.cluster.namespaces(),
                preset: chosen.listener_class_preset,
            };
            listeners(&live, &plan, told).await
        }
        Part::Skupper(chosen) => {
            let namespace = run.cluster.operator_namespace.as_deref();
            let told = Sites {
                namespace: namespace.unwrap_or(live.default_namespace()).to_owned(),
                maintain_crds: !run.cluster.disable_crd_maintenance,
                max_object_size: run.cluster.max_object_bytes(),
                watched: chosen.all_watched(run.cluster.namespaces())?,
                chosen,
            };
            sites(&live, &plan, told).await
        }
    }
}

/// Options of the controller of Listeners that change its writes.
#[derive(Clone, Debug)]
pub(crate) struct Listeners {
    /// The domain below which cluster DNS names Services; `cluster.local` without it.
    pub(crate) cluster_domain: Option<ClusterDomain>,
    /// True if it installs and updates CustomResourceDefinitions.
    pub(crate) maintain_crds: bool,
    /// The bytes of the largest object that it reads of its kinds.
    pub(crate) max_object_size: usize,
    /// Namespaces whose Listeners it manages; all if empty.
    pub(crate) watched: BTreeSet<String>,
    /// The classes that it creates where they are missing.
    pub(crate) preset: Preset,
}

/// Prints the plan of the controller of Listeners.
///
/// # Errors
/// As `lifecycle_inspect::plan::run`.
pub(crate) async fn listeners(
    live: &Client,
    plan: &Plan,
    told: Listeners,
) -> anyhow::Result<Verdict> {
    let start = |inside: Operator| {
        own_kinds(&inside, Product::Listeners, told.maintain_crds);
        let options = lifecycle_listener::controller::Options {
            // The one that the operator finds in its Pod cannot be found from here.
            cluster_domain: told.cluster_domain.unwrap_or_else(ClusterDomain::usual),
            kinds: kinds(Product::Listeners),
            maintain_crds: told.maintain_crds,
            preset: told.preset,
            leadership: None,
            max_object_size: told.max_object_size,
            watched: told.watched,
            csi_endpoint: None,
            health: inside.health,
        };
        let (client, trace) = (inside.client, Some(inside.trace));
        lifecycle_listener::controller::run_observed(client, options, trace, inside.shutdown)
    };
    let printed = (Vec::new, start);
    Ok(lifecycle_inspect::plan::run(live, plan, printed, &mut stdout().lock()).await?)
}

/// Registers the kinds of a product, and the command that installs them.
fn own_kinds(inside: &Operator, product: Product, maintain: bool) {
    let kinds = kinds(product);
    let install = format!("{} | kubectl apply --server-side -f -", kinds.printed_by);
    inside.own_kinds(&[kinds], (&install, maintain));
}

/// Options of the controller of Skupper sites that change its writes.
#[derive(Clone, Debug)]
pub(crate) struct Sites<'a> {
    /// The namespace where it runs.
    pub(crate) namespace: String,
    /// True if it installs and updates CustomResourceDefinitions.
    pub(crate) maintain_crds: bool,
    /// The bytes of the largest object that it reads of its kinds.
    pub(crate) max_object_size: usize,
    /// Namespaces whose sites it manages; all if empty.
    pub(crate) watched: BTreeSet<String>,
    /// The others.
    pub(crate) chosen: &'a SkupperArgs,
}

/// Prints the plan of the controller of Skupper sites.
///
/// # Errors
/// As `lifecycle_inspect::plan::run`.
pub(crate) async fn sites(live: &Client, plan: &Plan, told: Sites<'_>) -> anyhow::Result<Verdict> {
    let chosen = told.chosen;
    let silent = Silent::default();
    let asked = silent.clone();
    let start = |inside: Operator| {
        own_kinds(&inside, Product::Skupper, told.maintain_crds);
        let options = lifecycle_skupper::controller::Options {
            namespace: told.namespace,
            watched: told.watched,
            name: chosen.controller_name.clone(),
            platform: Platform::Kubernetes,
            access: chosen.access(),
            router_options: chosen.router_options(),
            kinds: kinds(Product::Skupper),
            maintain_crds: told.maintain_crds,
            leadership: None,
            max_object_size: told.max_object_size,
            grants: None,
            health: inside.health,
        };
        let (client, trace) = (inside.client, Some(inside.trace));
        lifecycle_skupper::controller::run_observed(client, options, asked, trace, inside.shutdown)
    };
    let printed = (|| silent.noted(), start);
    Ok(lifecycle_inspect::plan::run(live, plan, printed, &mut stdout().lock()).await?)
}

/// Routers that never answer. Records the queries that would be sent.
#[derive(Clone, Default)]
struct Silent(Arc<Mutex<BTreeSet<String>>>);

impl Silent {
    fn noted(&self) -> Vec<String> {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.iter().cloned().collect()
    }
}

impl Routers for Silent {
    async fn fetch_state(
        &self,
        pods: Vec<&Pod>,
        _: Vec<&ConfigMap>,
    ) -> Result<RouterState, CallError> {
        for pod in pods {
            let namespace = pod.namespace().unwrap_or_default();
            let line = format!(
                "the state of the router in Pod {namespace}/{}",
                pod.name_any()
            );
            let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            noted.insert(line);
        }
        pending().await
    }
}
