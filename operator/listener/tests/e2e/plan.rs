//! `plan` on a real API server: the planned writes equal the later writes of the operator, and the
//! plan needs only read rights.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ListParams, Patch, PatchParams};
use kube::{Api, Client};
use lifecycle_cli::process::cluster_domain::ClusterDomain;
use lifecycle_inspect::plan::{
    Action, Change, DryRun, Error, Operator, Planned, Server, plan, text,
};
use lifecycle_listener::args::Preset;
use lifecycle_listener::controller::{KINDS, Options, run_observed};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_tests::audit::Cost;
use lifecycle_tests::harness::{Case, Need, case, eventually};
use serde_json::{Value, json};

use crate::PROGRAM;
use crate::listeners::{Cluster, OPERATOR, SOON};

/// User who may get and list, and nothing else.
const READER: &str = "reader";
const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn cases() -> Vec<Case> {
    let name = "what_is_planned_is_what_the_operator_then_writes";
    vec![case(name, &[Need::Binaries], planned_is_written)]
}

/// Returns the plan of the operator that the tests run, by the same options.
async fn planned(client: &Client, dry_run: DryRun) -> Result<Planned, Error> {
    let start = |inside: Operator| {
        let domain: ClusterDomain = "cluster.test".parse().expect("a domain");
        let options = Options {
            cluster_domain: domain,
            kinds: KINDS,
            maintain_crds: true,
            preset: Preset::default(),
            leadership: None,
            max_object_size: lifecycle_runtime::operator::MAX_OBJECT_SIZE,
            watched: std::collections::BTreeSet::new(),
            csi_endpoint: None,
            health: inside.health,
        };
        run_observed(inside.client, options, Some(inside.trace), inside.shutdown)
    };
    plan(client, (dry_run, LIMIT), start).await
}

async fn planned_is_written() -> Result<()> {
    let mut cluster = Cluster::start(PROGRAM).await?;
    for name in ["kept", "edited"] {
        listener(&cluster, name, "cluster-internal").await?;
        addressed(&cluster, name).await?;
    }
    let nothing = eventually("nothing to write", SOON, async || {
        let planned = planned(&cluster.client, DryRun::Copy).await?;
        Ok(planned.is_empty().then_some(planned))
    });
    let nothing = nothing.await?;
    ensure!(nothing.objects == 2, "{}", text(&nothing));
    cluster.stop_operator()?;
    change(&cluster).await?;

    let reader = reader(&cluster, &["", "listeners.stackable.tech"]).await?;
    let Err(Error::Unreadable(unread)) = planned(&reader, DryRun::Copy).await else {
        bail!("definitions may not be read, and that is not told");
    };
    ensure!(unread[0].forbidden, "{}", unread[0]);
    let groups = [
        "",
        "listeners.stackable.tech",
        "discovery.k8s.io",
        "apiextensions.k8s.io",
    ];
    let reader = self::reader(&cluster, &groups).await?;
    let told = planned(&reader, DryRun::Copy).await?;
    let said = text(&told);
    let of_reader = cluster.server.audit().await?.of_user(READER);
    let others = of_reader.only(|entry| entry.cost() != Cost::Read);
    ensure!(
        others.is_empty() && of_reader.len() >= 6,
        "{}",
        others.lines()
    );
    holds(&told, &said)?;

    // With the rights to write, the API server reports that it accepts each of them, and stores
    // none.
    let asked = planned(&cluster.client, DryRun::Server).await?;
    let taken = |change: &Change| change.server == Some(Server::Accepts);
    ensure!(asked.changes.iter().all(taken), "{}", text(&asked));
    let still = planned(&reader, DryRun::Copy).await?;
    let (still, first): (Vec<_>, Vec<_>) = (
        still.changes.iter().map(named).collect(),
        told.changes.iter().map(named).collect(),
    );
    ensure!(
        still == first,
        "asking changed something: {still:?}\n{said}"
    );

    let before = cluster.server.audit().await?.of_user(OPERATOR).len();
    cluster.run_operator(&[]).await?;
    addressed(&cluster, "new").await?;
    let done = eventually("nothing left to write", SOON, async || {
        let planned = planned(&reader, DryRun::Copy).await?;
        Ok(planned.is_empty().then_some(()))
    });
    cluster.explain(done.await)?;
    let log = cluster.server.audit().await?.of_user(OPERATOR);
    let wrote: BTreeSet<String> = log
        .iter()
        .skip(before)
        .filter(|entry| entry.cost() == Cost::Write && entry.code < 300)
        .map(|entry| format!("{} {}/{}", entry.resource, entry.namespace, entry.name))
        .collect();
    let planned: BTreeSet<String> = told.changes.iter().map(named).collect();
    ensure!(wrote == planned, "wrote {wrote:?}, planned\n{said}");
    Ok(())
}

/// As paths of the API server have it.
fn named(change: &Change) -> String {
    let namespace = change.namespace.as_deref().unwrap_or_default();
    format!(
        "{}s {namespace}/{}",
        change.kind.to_lowercase(),
        change.name
    )
}

/// Checks the planned changes after `change`.
fn holds(told: &Planned, said: &str) -> Result<()> {
    let of = |object: &str| told.changes.iter().find(|change| change.object() == object);
    let Some(edited) = of("Service default/edited") else {
        bail!("the edited Service is not mended:\n{said}");
    };
    let port = edited
        .fields
        .iter()
        .find(|f| f.path == "spec.ports[name=http].port");
    let port = port.map(|field| (field.from.clone(), field.to.clone()));
    ensure!(port == Some((Some(json!(81)), Some(json!(80)))), "{said}");
    ensure!(edited.action == Action::Change, "{said}");
    let Some(new) = of("Service default/new") else {
        bail!("the new Listener gets no Service:\n{said}");
    };
    ensure!(new.action == Action::Create, "{said}");
    ensure!(of("Listener default/new").is_some(), "{said}");
    ensure!(of("Listener default/kept").is_none(), "{said}");
    ensure!(of("Service default/kept").is_none(), "{said}");
    let lost = told
        .waiting
        .iter()
        .find(|one| one.object == "Listener default/lost");
    ensure!(lost.is_some_and(|lost| lost.state == "NoClass"), "{said}");
    ensure!(told.restarts.is_empty() && !told.unfinished, "{said}");
    Ok(())
}

/// While no operator runs: a port is edited by hand, one Listener is new, and one is in vain.
async fn change(cluster: &Cluster) -> Result<()> {
    let services: Api<Service> = Api::namespaced(cluster.client.clone(), "default");
    let patch = json!([{ "op": "replace", "path": "/spec/ports/0/port", "value": 81 }]);
    let patch: Patch<Value> = Patch::Json(serde_json::from_value(patch)?);
    services
        .patch("edited", &PatchParams::default(), &patch)
        .await?;
    listener(cluster, "new", "cluster-internal").await?;
    listener(cluster, "lost", "nowhere").await
}

async fn listener(cluster: &Cluster, name: &str, class: &str) -> Result<()> {
    let listeners = listeners(cluster);
    let object = json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
        "metadata": { "name": name, "namespace": "default" },
        "spec": { "className": class, "ports": [{ "name": "http", "port": 80 }] },
    });
    cluster.make(listeners, object).await.map(drop)
}

fn listeners(cluster: &Cluster) -> Api<Listener> {
    Api::namespaced(cluster.client.clone(), "default")
}

async fn addressed(cluster: &Cluster, name: &str) -> Result<()> {
    let listeners = listeners(cluster);
    let found = eventually("an address", SOON, async || {
        let status = listeners.get(name).await?.status;
        let addresses = status.and_then(|status| status.ingress_addresses);
        Ok(addresses.filter(|all| !all.is_empty()).map(drop))
    });
    cluster.explain(found.await)
}

/// Returns a client of a user who may get and list the resources of these groups.
async fn reader(cluster: &Cluster, groups: &[&str]) -> Result<Client> {
    let rules = json!([{ "apiGroups": groups, "resources": ["*"], "verbs": ["get", "list"] }]);
    let roles = cluster.all::<ClusterRole>();
    let role: ClusterRole =
        serde_json::from_value(json!({ "metadata": { "name": READER }, "rules": rules }))?;
    let params = PatchParams::apply("test").force();
    roles.patch(READER, &params, &Patch::Apply(&role)).await?;
    let group = "rbac.authorization.k8s.io";
    let binding: ClusterRoleBinding = serde_json::from_value(json!({
        "metadata": { "name": READER },
        "roleRef": { "apiGroup": group, "kind": "ClusterRole", "name": READER },
        "subjects": [{ "apiGroup": group, "kind": "User", "name": READER }],
    }))?;
    let bindings = cluster.all::<ClusterRoleBinding>();
    bindings
        .patch(READER, &params, &Patch::Apply(&binding))
        .await?;
    let client = cluster.server.client_for(READER, &[]).await?;
    // A right is seen by the API server a moment after it is written.
    let may_read = groups.contains(&"apiextensions.k8s.io");
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    eventually("the rights that were given", SOON, async || {
        let lists = definitions.list(&ListParams::default().limit(1)).await;
        Ok((lists.is_ok() == may_read).then_some(()))
    })
    .await?;
    Ok(client)
}
