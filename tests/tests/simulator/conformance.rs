//! Behaviour of an API server. Each case runs on the simulated server and on a real kube-apiserver,
//! and must hold on both. It must get the same answers from both, apart from values that two
//! servers may choose freely. A case is written once and knows neither server.

mod api;
mod apply;
mod compare;
mod custom;
mod deleting;
mod facts;
mod kept;
mod kinds;
mod lists;
mod metadata;
mod namespaces;
mod patches;
mod reading;
mod refused;
mod rights;
mod services;
mod watching;
mod writing;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use lifecycle_simulator::{Server, User};
use lifecycle_tests::api_server::ApiServer;
use lifecycle_tests::harness::{Case, Need, case};
use tokio::sync::OnceCell;

use api::{Api, Entry};

/// Cases whose answers differ although they pass on both servers, and the difference.
const DIFFERENT: [(&str, &str); 2] = [
    (
        "finalizers_must_be_qualified_names",
        "a finalizer without a domain is refused in two messages",
    ),
    (
        "daemon_sets_get_defaults",
        "an annotation that is deprecated counts templates",
    ),
];

/// The real server of this suite, started by the first case that needs it.
type Real = Arc<OnceCell<Running>>;

/// A real server and the kubeconfigs of all users, written once, for cases run at the same time.
struct Running {
    _server: ApiServer,
    kubeconfigs: Vec<(User, PathBuf)>,
}

pub(crate) fn cases() -> Vec<Case> {
    let real = Real::default();
    let entries = [
        writing::cases(),
        patches::cases(),
        apply::cases(),
        facts::cases(),
        lists::cases(),
        metadata::cases(),
        reading::cases(),
        watching::cases(),
        deleting::cases(),
        namespaces::cases(),
        services::cases(),
        kinds::cases(),
        kept::cases(),
        custom::cases(),
        refused::cases(),
        rights::cases(),
    ];
    let mut cases = Vec::new();
    for entry in entries.into_iter().flatten() {
        let real = real.clone();
        cases.push(case(leak(entry.name, "simulated"), &[], move || {
            simulated(entry)
        }));
        cases.push(case(
            leak(entry.name, "real"),
            &[Need::Binaries],
            move || async move { both(entry, &real).await },
        ));
    }
    cases
}

/// The harness wants names that live for ever, and these do.
fn leak(name: &str, on: &str) -> &'static str {
    format!("{name}::{on}").leak()
}

async fn simulated(entry: Entry) -> Result<()> {
    on_simulated(entry).await.map(drop)
}

async fn on_simulated(entry: Entry) -> Result<Api> {
    let server = Server::new(7);
    server.enforce_rbac(true);
    let users = server.clone();
    let client = move |user: &User| users.client(user);
    let api = Api::new(entry.name, Arc::new(client));
    api.begin().await?;
    (entry.run)(api.clone()).await?;
    Ok(api)
}

async fn both(entry: Entry, real: &Real) -> Result<()> {
    let running = real.get_or_try_init(start).await?;
    let mut clients = Vec::new();
    for (user, kubeconfig) in &running.kubeconfigs {
        clients.push((user.clone(), client(kubeconfig).await?));
    }
    let client = move |user: &User| {
        let found = clients.iter().find(|(known, _)| known == user);
        found.expect("all users are in the list").1.clone()
    };
    let api = Api::new(entry.name, Arc::new(client));
    api.begin().await?;
    (entry.run)(api.clone())
        .await
        .context("on the real server")?;
    let simulated = on_simulated(entry)
        .await
        .context("on the simulated server")?;
    let differences = compare::differences(&simulated.transcript(), &api.transcript());
    if let Some((_, why)) = DIFFERENT.iter().find(|(name, _)| *name == entry.name) {
        ensure!(
            !differences.is_empty(),
            "it does not differ any more ({why}): take it from the list"
        );
        return Ok(());
    }
    ensure!(
        differences.is_empty(),
        "simulated (-) and real (+) differ:\n{differences}"
    );
    Ok(())
}

async fn start() -> Result<Running> {
    let server = ApiServer::start().await?;
    let mut kubeconfigs = Vec::new();
    for user in api::users() {
        let groups: Vec<&str> = user.groups.iter().map(String::as_str).collect();
        let kubeconfig = server.kubeconfig(&user.name, &groups)?;
        kubeconfigs.push((user, kubeconfig));
    }
    Ok(Running {
        _server: server,
        kubeconfigs,
    })
}

/// Each case has a runtime of its own, and so has its client.
async fn client(kubeconfig: &Path) -> Result<Client> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await?;
    Ok(lifecycle_runtime::kube::client(config)?)
}
