//! Edits that users make to Listeners meanwhile, and the results that they must have.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use k8s_openapi::api::core::v1::Service;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_tests::harness::eventually;
use serde_json::{Value, json};

use super::insist;
use crate::listeners::{ExpectedCondition, SOON};

/// How many come and go; as many are there at once at most.
const MANY: u64 = 150;
/// Between two acts.
const PAUSE: Duration = Duration::from_millis(80);

const CLASSES: [(&str, &str); 2] = [
    ("cluster-internal", "ClusterIP"),
    ("external-unstable", "NodePort"),
];

/// Result that a Listener must arrive at.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ExpectedResult {
    /// A Service of this type with this port.
    Exposed(&'static str, u16),
    /// Not accepted, for this reason.
    Refused(&'static str),
}

/// Fields of a Service that never change as long as no user wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Identity {
    uid: Option<String>,
    address: Option<String>,
    node_ports: Vec<Option<i32>>,
}

impl Identity {
    fn from_service(service: &Service) -> Self {
        let spec = service.spec.clone().unwrap_or_default();
        let ports = spec.ports.unwrap_or_default();
        Self {
            uid: service.uid(),
            address: spec.cluster_ip,
            node_ports: ports.iter().map(|port| port.node_port).collect(),
        }
    }
}

/// Work done so far.
pub(super) struct Work {
    listeners: Api<Listener>,
    services: Api<Service>,
    wanted: BTreeMap<String, ExpectedResult>,
    held: BTreeMap<String, Identity>,
    /// Number of operations of each kind.
    acts: BTreeMap<&'static str, usize>,
    number: u64,
    /// Number of deleted objects of each place. Each name is used once. After a restarted watch,
    /// the garbage collector takes a new object for the previous one of that name, and never
    /// deletes the dependents of the old one.
    rounds: BTreeMap<u64, u64>,
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wanted, held, .. } = self;
        let all: usize = self.acts.values().sum();
        write!(f, "{all} acts (")?;
        for (number, (act, times)) in self.acts.iter().enumerate() {
            let comma = if number > 0 { ", " } else { "" };
            write!(f, "{comma}{act} {times}")?;
        }
        let come = wanted.len() - held.len();
        write!(f, "), {} held, {come} others left", held.len())
    }
}

impl Work {
    pub(super) fn new(client: &Client) -> Self {
        Self {
            listeners: Api::default_namespaced(client.clone()),
            services: Api::default_namespaced(client.clone()),
            wanted: BTreeMap::new(),
            held: BTreeMap::new(),
            acts: BTreeMap::new(),
            number: 0,
            rounds: BTreeMap::new(),
        }
    }

    /// Waits until the garbage collector knows Listeners. It discovers new kinds twice a minute,
    /// and until then the next Listener of a name would have to wait.
    pub(super) async fn is_collected(&mut self) -> Result<()> {
        let name = "collected";
        self.create(
            name,
            CLASSES[0].0,
            80,
            ExpectedResult::Exposed(CLASSES[0].1, 80),
        )
        .await?;
        self.is_as_wanted(SOON).await?;
        self.delete(name).await?;
        self.is_as_wanted(SOON).await
    }

    /// Creates Listeners that stay untouched, and remembers their initial result.
    pub(super) async fn hold(&mut self, many: usize) -> Result<()> {
        for number in 0..many {
            let (class, type_) = CLASSES[number % 2];
            let name = format!("held-{number:04}");
            self.create(&name, class, 80, ExpectedResult::Exposed(type_, 80))
                .await?;
        }
        self.is_as_wanted(Duration::from_secs(120)).await?;
        for service in self.services.list(&ListParams::default()).await? {
            self.held
                .insert(service.name_any(), Identity::from_service(&service));
        }
        self.held.retain(|name, _| name.starts_with("held-"));
        ensure!(self.held.len() == many, "{} of {many}", self.held.len());
        Ok(())
    }

    /// One act after another.
    pub(super) async fn go_on(&mut self, over: impl Fn() -> bool) -> Result<()> {
        while !over() {
            self.number += 1;
            self.act().await?;
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    async fn act(&mut self) -> Result<()> {
        // Multiplied by an odd number, so that neighbours are far apart.
        let dice = self.number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        let place = dice % MANY;
        let round = self.rounds.get(&place).copied().unwrap_or_default();
        let name = format!("comes-{place:03}-{round}");
        let (class, type_) = CLASSES[usize::from(dice & 0x100 == 0)];
        let port = 1 + u16::try_from(dice >> 9 & 0x3fff).unwrap_or_default();
        let is_there = self.wanted.contains_key(&name);
        match (is_there, dice >> 23 & 7) {
            (false, 0) => {
                self.create(
                    &name,
                    "nowhere",
                    port,
                    ExpectedResult::Refused("ListenerClassNotFound"),
                )
                .await
            }
            (false, 1) => {
                self.create(&name, class, 0, ExpectedResult::Refused("InvalidPort"))
                    .await
            }
            (false, _) => {
                self.create(&name, class, port, ExpectedResult::Exposed(type_, port))
                    .await
            }
            (true, 0 | 1) => {
                self.rounds.insert(place, round + 1);
                self.delete(&name).await
            }
            (true, 2 | 3) => {
                self.edit(&name, class, port, ExpectedResult::Exposed(type_, port))
                    .await
            }
            (true, 4) => {
                self.edit(&name, class, 0, ExpectedResult::Refused("InvalidPort"))
                    .await
            }
            (true, 5) => self.take_service(&name).await,
            (true, 6) => {
                self.spoil_service(&name, json!({ "spec": { "selector": { "x": "1" } } }))
                    .await
            }
            (true, _) => self.spoil_status(&name).await,
        }
    }

    /// How many there are at once.
    pub(super) fn many(&self) -> u64 {
        u64::try_from(self.wanted.len()).unwrap_or(u64::MAX)
    }

    fn count(&mut self, act: &'static str) {
        *self.acts.entry(act).or_default() += 1;
    }

    async fn create(
        &mut self,
        name: &str,
        class: &str,
        port: u16,
        wanted: ExpectedResult,
    ) -> Result<()> {
        let act = match wanted {
            ExpectedResult::Exposed(..) => "create",
            ExpectedResult::Refused(_) => "create a bad one",
        };
        self.count(act);
        let listener: Listener = serde_json::from_value(json!({
            "apiVersion": "listeners.stackable.tech/v1alpha1",
            "kind": "Listener",
            "metadata": { "name": name },
            "spec": spec(class, port),
        }))?;
        let params = PostParams::default();
        let made = insist("create a Listener", async || {
            self.listeners.create(&params, &listener).await
        });
        match made.await? {
            Ok(_) => {}
            // An answer was lost.
            Err(error) if code(&error) == 409 => {}
            Err(error) => bail!("cannot create {name}: {error}"),
        }
        self.wanted.insert(name.to_owned(), wanted);
        Ok(())
    }

    async fn edit(
        &mut self,
        name: &str,
        class: &str,
        port: u16,
        wanted: ExpectedResult,
    ) -> Result<()> {
        let act = match wanted {
            ExpectedResult::Exposed(..) => "edit",
            ExpectedResult::Refused(_) => "spoil",
        };
        self.count(act);
        let patch = Patch::Merge(json!({ "spec": spec(class, port) }));
        let params = PatchParams::default();
        let made = insist("edit a Listener", async || {
            self.listeners.patch(name, &params, &patch).await
        });
        made.await??;
        self.wanted.insert(name.to_owned(), wanted);
        Ok(())
    }

    async fn delete(&mut self, name: &str) -> Result<()> {
        self.count("delete");
        let params = DeleteParams::default();
        let deleted = insist("delete a Listener", async || {
            self.listeners.delete(name, &params).await.map(drop)
        });
        if let Err(error) = deleted.await? {
            ensure!(code(&error) == 404, "cannot delete {name}: {error}");
        }
        self.wanted.remove(name);
        Ok(())
    }

    async fn take_service(&mut self, name: &str) -> Result<()> {
        self.count("delete the Service");
        let params = DeleteParams::default();
        let deleted = insist("delete a Service", async || {
            self.services.delete(name, &params).await.map(drop)
        });
        may_be_gone(deleted.await?)
    }

    async fn spoil_service(&mut self, name: &str, patch: Value) -> Result<()> {
        self.count("edit the Service");
        let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
        let made = insist("edit a Service", async || {
            self.services.patch(name, &params, &patch).await.map(drop)
        });
        may_be_gone(made.await?)
    }

    async fn spoil_status(&mut self, name: &str) -> Result<()> {
        self.count("edit the status");
        let params = PatchParams::default();
        let patch =
            Patch::Merge(json!({ "status": { "serviceName": "mallory", "conditions": null } }));
        let made = insist("edit a status", async || {
            let patched = self.listeners.patch_status(name, &params, &patch).await;
            patched.map(drop)
        });
        may_be_gone(made.await?)
    }

    /// Waits until every Listener is as wanted, with its Service, and nothing else exists.
    pub(super) async fn is_as_wanted(&self, limit: Duration) -> Result<()> {
        let settled = eventually("all to be as wanted", limit, async || {
            Ok(self.differences().await?.is_empty().then_some(()))
        });
        if let Err(error) = settled.await {
            let differences = self.differences().await?;
            let some: Vec<_> = differences.iter().take(10).collect();
            return Err(error.context(format!("{some:#?}")));
        }
        Ok(())
    }

    async fn differences(&self) -> Result<Vec<String>> {
        let params = ListParams::default();
        let listeners = self.listeners.list(&params).await?;
        let services = self.services.list(&params).await?;
        let services: BTreeMap<String, &Service> = services
            .iter()
            .map(|service| (service.name_any(), service))
            .filter(|(name, _)| name != "kubernetes")
            .collect();
        let named: BTreeSet<String> = listeners.iter().map(ResourceExt::name_any).collect();
        let wanted: BTreeSet<String> = self.wanted.keys().cloned().collect();
        let mut found: Vec<String> = named
            .symmetric_difference(&wanted)
            .map(|name| format!("{name} is lost, or left over"))
            .collect();
        let left = services.keys().filter(|name| !wanted.contains(*name));
        found.extend(left.map(|name| format!("the Service {name} is left over")));
        for listener in &listeners {
            let name = listener.name_any();
            let service = services.get(&name);
            if let Some(wanted) = self.wanted.get(&name) {
                found.extend(differs(listener, service.copied(), wanted));
            }
            let before = self.held.get(&name);
            if before.is_some()
                && service
                    .map(|service| Identity::from_service(service))
                    .as_ref()
                    != before
            {
                found.push(format!("{name} had {before:?} and has {service:?}"));
            }
        }
        Ok(found)
    }
}

/// Returns the difference between a Listener with its Service and the wanted result.
fn differs(
    listener: &Listener,
    service: Option<&Service>,
    wanted: &ExpectedResult,
) -> Option<String> {
    let name = listener.name_any();
    let told = |type_, status, reason| ExpectedCondition(type_, status, reason).holds_in(listener);
    match *wanted {
        ExpectedResult::Refused(reason) => (!told("Accepted", "False", reason))
            .then(|| format!("{name} is not refused for {reason}: {:?}", listener.status)),
        ExpectedResult::Exposed(type_, port) => {
            let spec = service.and_then(|service| service.spec.clone());
            let spec = spec.unwrap_or_default();
            let ports: Vec<i32> = spec.ports.iter().flatten().map(|port| port.port).collect();
            let is_right = spec.type_.as_deref() == Some(type_)
                && ports == [i32::from(port)]
                && !spec.selector.unwrap_or_default().contains_key("x");
            let is_told = told("Programmed", "True", "Programmed");
            let is_named = listener
                .status
                .as_ref()
                .and_then(|s| s.service_name.as_deref());
            (!is_right || !is_told || is_named != Some(&name)).then(|| {
                format!(
                    "{name} is no {type_} with {port}: {service:?}, {:?}",
                    listener.status
                )
            })
        }
    }
}

fn spec(class: &str, port: u16) -> Value {
    json!({ "className": class, "ports": [{ "name": "http", "port": port }] })
}

fn code(error: &kube::Error) -> u16 {
    let kube::Error::Api(status) = error else {
        return 0;
    };
    status.code
}

fn may_be_gone(made: kube::Result<()>) -> Result<()> {
    match made {
        Err(error) if code(&error) != 404 => Err(error.into()),
        _ => Ok(()),
    }
}
