//! Writes the numbers of the contents of Secrets onto them, for the existing adaptor: of the Secrets that the configurations of namespaces name, and of no other.
//! Every replica of the controller does so; of several only the first one writes, by the version of the Secret.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use futures::StreamExt as _;
use futures::future::select_all;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, Patch, PatchParams};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Client, ResourceExt};
use lifecycle_runtime::cause;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_specs_skupper::router::{CONTROLLER_CONFIG, ROUTER};
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::config::revisions::{Profiles, annotations, profiles};
use crate::namespace::controller_id::ControllerId;

/// The field manager.
const MANAGER: &str = "skupper.io/numbering";
/// How long until a Secret is tried again that could not be written.
const AGAIN: Duration = Duration::from_secs(10);

/// Numbers the Secrets of all namespaces that a controller manages, or of those that it watches,
/// until shutdown.
pub async fn run(
    client: Client,
    id: ControllerId,
    watched: BTreeSet<String>,
    mut shutdown: Shutdown,
) {
    let each = watched.iter().map(|namespace| Some(namespace.as_str()));
    let all = watched.is_empty().then_some(None);
    let follow = select_all(
        each.chain(all)
            .map(|one| Box::pin(follow(&client, &id, one))),
    );
    tokio::select! {
        () = shutdown.wait() => {}
        (never, ..) = follow => match never {},
    }
}

/// Namespaces whose configuration names Secrets. Each has a task that ends with its sender.
type Namespaces = BTreeMap<String, watch::Sender<Profiles>>;

async fn follow(client: &Client, id: &ControllerId, watched: Option<&str>) -> Infallible {
    let configs: Api<ConfigMap> = match watched {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    };
    let of_routers = watcher::Config::default().fields(&format!("metadata.name={ROUTER}"));
    let changes = watcher(configs, of_routers).default_backoff();
    let mut changes = pin!(changes);
    let (mut namespaces, mut work) = (Namespaces::new(), JoinSet::new());
    loop {
        let wanted = match changes.next().await {
            Some(Ok(Event::Apply(map) | Event::InitApply(map))) => {
                (map.namespace(), profiles(&map))
            }
            Some(Ok(Event::Delete(map))) => (map.namespace(), Profiles::new()),
            Some(Ok(Event::Init | Event::InitDone)) => continue,
            Some(Err(error)) => {
                let why = cause::in_one_line(&error);
                tracing::warn!("ConfigMaps `{ROUTER}` cannot be watched: {why}");
                continue;
            }
            None => std::future::pending().await,
        };
        let (Some(namespace), wanted) = wanted else {
            continue;
        };
        if wanted.is_empty() {
            namespaces.remove(&namespace);
        } else if let Some(known) = namespaces.get(&namespace) {
            known.send_replace(wanted);
        } else {
            let (sender, receiver) = watch::channel(wanted);
            let place = NamespaceNumbering {
                client: client.clone(),
                id: id.clone(),
                namespace: namespace.clone(),
            };
            work.spawn(place.run(receiver));
            namespaces.insert(namespace, sender);
        }
        while work.try_join_next().is_some() {}
    }
}

/// A namespace.
struct NamespaceNumbering {
    client: Client,
    id: ControllerId,
    namespace: String,
}

impl NamespaceNumbering {
    /// Numbers the Secrets of the namespace whenever they or the wanted profiles change, until no
    /// profile is wanted any more.
    async fn run(self, mut wanted: watch::Receiver<Profiles>) {
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), &self.namespace);
        let changes = watcher(secrets.clone(), watcher::Config::default()).default_backoff();
        let mut changes = pin!(changes);
        // Those of the namespace that are wanted, as they were seen last; without one that does not exist.
        let mut all: BTreeMap<String, Option<Secret>> = BTreeMap::new();
        loop {
            let now = wanted.borrow_and_update().clone();
            let names: BTreeSet<&String> = now.values().map(|profile| &profile.secret).collect();
            all.retain(|name, _| names.contains(name));
            let mut is_late = false;
            for name in names {
                if !all.contains_key(name) {
                    match secrets.get_opt(name).await {
                        Ok(found) => drop(all.insert(name.clone(), found)),
                        Err(error) => {
                            self.log_error(name, &error);
                            is_late = true;
                        }
                    }
                }
                if let Some(Some(secret)) = all.get(name) {
                    is_late |= !self.number_one(secret, &now).await;
                }
            }
            let mut seen = |secret: Secret, is_there: bool| {
                if let Some(known) = all.get_mut(&secret.name_any()) {
                    *known = Some(secret).filter(|_| is_there);
                }
            };
            tokio::select! {
                change = changes.next() => match change {
                    Some(Ok(Event::Apply(secret) | Event::InitApply(secret))) => seen(secret, true),
                    Some(Ok(Event::Delete(secret))) => seen(secret, false),
                    Some(Ok(Event::Init | Event::InitDone)) => {}
                    Some(Err(error)) => {
                        let (namespace, why) = (&self.namespace, cause::in_one_line(&error));
                        tracing::warn!("the Secrets of namespace `{namespace}` cannot be watched: {why}");
                    }
                    None => return,
                },
                changed = wanted.changed() => if changed.is_err() {
                    return;
                },
                () = sleep(AGAIN), if is_late => {}
            }
        }
    }

    /// Numbers a Secret, if necessary. Returns false if it must be retried.
    async fn number_one(&self, secret: &Secret, wanted: &Profiles) -> bool {
        let name = secret.name_any();
        let of_secret = wanted.iter().filter(|(_, profile)| profile.secret == name);
        let of_secret: Vec<_> = of_secret
            .map(|(name, profile)| (name.as_str(), profile.ordinal))
            .collect();
        let Some(annotations) = annotations(secret, &of_secret) else {
            return true;
        };
        let written = async {
            let configs: Api<ConfigMap> = Api::namespaced(self.client.clone(), &self.namespace);
            let controller = configs.get_opt(CONTROLLER_CONFIG).await?;
            if self.id.other(controller.as_ref()).is_some() {
                return Ok(());
            }
            let secrets: Api<Secret> = Api::namespaced(self.client.clone(), &self.namespace);
            let metadata =
                json!({ "annotations": annotations, "resourceVersion": secret.resource_version() });
            let params = PatchParams {
                field_manager: Some(MANAGER.to_owned()),
                ..PatchParams::default()
            };
            let patch = Patch::Merge(json!({ "metadata": metadata }));
            secrets
                .patch_metadata(&name, &params, &patch)
                .await
                .map(drop)
        };
        match written.await {
            Ok(()) => true,
            // It has changed or gone meanwhile, and that will be seen.
            Err(kube::Error::Api(status)) if [404, 409].contains(&status.code) => true,
            Err(error) => {
                self.log_error(&name, &error);
                false
            }
        }
    }

    fn log_error(&self, name: &str, error: &kube::Error) {
        let (namespace, why) = (&self.namespace, cause::in_one_line(error));
        tracing::warn!("Secret `{namespace}/{name}` cannot be numbered for the adaptor: {why}");
    }
}
