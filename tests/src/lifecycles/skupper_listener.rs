//! A listener whose site determines its port: a table that another controller writes, one Service,
//! a set of Services and a poll.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service, ServicePort, ServiceSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_runtime::{Because, Desired, ObjectRef, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::provider::{Provider, ProviderState};
pub use super::skupper::Site;

/// Desired state of a Listener.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "site.tests",
    version = "v1",
    kind = "Listener",
    namespaced,
    status = "ListenerStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct ListenerSpec {
    /// The Service under which it is reached.
    pub host: String,
    /// The port of the Service.
    pub port: u16,
    /// The Secret with its certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_credentials: Option<String>,
    /// Protocol. The default is `tcp`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// Observed state of a Listener.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListenerStatus {
    /// The reason of the first condition that does not hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// True if a connector in the network offers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_matching_connector: Option<bool>,
    /// Configured, Secured, Matched, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
}

/// On the Services of a Listener's Pods: its name.
pub const LISTENER: &str = "site.tests/listener";

/// State of one listener in a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListenerActivity {
    /// No connector in the network offers it.
    Idle,
    /// It listens.
    Up,
    /// The port is taken.
    Failed,
}

/// State that a router reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouterState {
    /// True if it has read a table since it started.
    pub has_read: bool,
    /// The ports of the table that it read, by listener.
    pub ports: BTreeMap<String, u16>,
    /// States that it reports, by listener; it reports none for some listeners.
    pub does: BTreeMap<String, ListenerActivity>,
    /// Pods that the network offers, by listener.
    pub pods: BTreeMap<String, BTreeSet<String>>,
}

/// The one router of the tests, outside the API server.
pub type Router = Provider<RouterState>;

include!("../../../macros/core/tests/lifecycles/skupper-listener.txt");

/// One line of the table: its owner and its port in the router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The uid of the Listener.
    pub owner: String,
    /// In the router.
    pub port: u16,
}

/// Entry of the table in place of a line when it has no room.
pub const FULL: &str = "full";

impl Line {
    /// As it is written.
    pub fn written(&self) -> String {
        format!("{} {}", self.owner, self.port)
    }

    /// The line of a listener.
    pub fn for_listener(table: &ConfigMap, listener: &str) -> Option<Self> {
        let text = table.data.as_ref()?.get(listener)?;
        let (owner, port) = text.split_once(' ')?;
        Some(Self {
            owner: owner.to_owned(),
            port: port.parse().ok()?,
        })
    }
}

impl RouterState {
    /// The promises `answers` and `follows`: it reads the table.
    pub fn read(&mut self, table: &ConfigMap) {
        let names = table.data.iter().flatten().map(|(name, _)| name);
        let lines =
            names.filter_map(|name| Some((name.clone(), Line::for_listener(table, name)?.port)));
        self.ports = lines.collect();
        self.has_read = true;
    }
}

impl ProviderState for RouterState {
    /// Returns nothing, because the router acts by the table, which is not ours.
    fn leftovers(&self) -> Vec<String> {
        Vec::new()
    }

    const MEDDLINGS: &[&str] = &["offer", "offer two", "withdraw", "fail", "start anew"];

    fn perturb(&mut self, what: &str) {
        let name = "l".to_owned();
        let pods = |pods: &[&str]| pods.iter().map(|&pod| pod.to_owned()).collect();
        match what {
            "offer" => {
                self.does.insert(name.clone(), ListenerActivity::Up);
                self.pods.insert(name, pods(&["one"]));
            }
            "offer two" => {
                self.does.insert(name.clone(), ListenerActivity::Up);
                self.pods.insert(name, pods(&["one", "two"]));
            }
            "withdraw" => {
                self.does.insert(name, ListenerActivity::Idle);
                self.pods.clear();
            }
            "fail" => drop(self.does.insert(name, ListenerActivity::Failed)),
            _ => *self = Self::default(),
        }
    }
}

/// The logic of a Listener: where its router is.
pub struct AtSite(pub Router);

fn name(meta: &ObjectMeta) -> String {
    meta.name.clone().unwrap_or_default()
}

impl ListenerLogic for AtSite {
    async fn poll_router(
        &self,
        _: This<'_, Listener>,
        _: Vec<&Site>,
    ) -> Result<RouterState, CallError> {
        let state = |router: &mut RouterState| Ok(router.clone());
        self.0.query("look at the router", state).await
    }

    fn home(&self, _: This<'_, Listener>, sites: &[&Site]) -> Option<ObjectRef> {
        sites.first().map(|site| ObjectRef::to(*site))
    }

    fn validity(&self, this: This<'_, Listener>, _: &[&Site]) -> Because<Validity> {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let (spec, name) = (this.spec, name(this.meta));
        if spec.port == 0 {
            let said = "`spec.port` must be between 1 and 65535";
            Because::new(Validity::BadPort, said)
        } else if spec.host.is_empty() || !spec.host.chars().all(fits) {
            let said = "`spec.host` must be the name of a Service";
            Because::new(Validity::BadHost, said)
        } else if name.len() > 63 {
            Because::new(Validity::BadName, "its name is too long for a label")
        } else if spec.kind.as_deref().unwrap_or("tcp") != "tcp" {
            Because::new(Validity::BadType, "`spec.type` must be tcp")
        } else {
            Because::plain(Validity::Fine)
        }
    }

    fn claim(&self, this: This<'_, Listener>, table: &ConfigMap) -> Because<Claim> {
        let name = name(this.meta);
        let text = table.data.as_ref().and_then(|d| d.get(&name));
        match (text.map(String::as_str), Line::for_listener(table, &name)) {
            (_, Some(line)) if Some(&line.owner) == this.meta.uid.as_ref() => {
                Because::plain(Claim::Held)
            }
            (Some(FULL), _) => Because::new(Claim::Full, "the Site has no free port"),
            (Some(_), _) => {
                let said = "another Listener holds the port of this name";
                Because::new(Claim::Lost, said)
            }
            (None, _) => Because::new(Claim::None, "the Site has given it no port yet"),
        }
    }

    fn entry(
        &self,
        this: This<'_, Listener>,
        table: &ConfigMap,
        router: &RouterState,
    ) -> Because<Entry> {
        let name = name(this.meta);
        let wanted = Line::for_listener(table, &name).map(|line| line.port);
        if !router.has_read {
            Because::new(Entry::Unknown, "the router has read no table yet")
        } else if router.ports.get(&name).copied() == wanted {
            Because::plain(Entry::Current)
        } else {
            Because::new(Entry::Behind, "the router has read an older table")
        }
    }

    fn reach(&self, this: This<'_, Listener>, router: &RouterState) -> Because<Reach> {
        match router.does.get(&name(this.meta)) {
            None => Because::new(Reach::None, "the router says nothing of it yet"),
            Some(ListenerActivity::Idle) => {
                Because::new(Reach::Idle, "nobody in the network offers it")
            }
            Some(ListenerActivity::Up) => Because::plain(Reach::Up),
            Some(ListenerActivity::Failed) => Because::new(
                Reach::Failed,
                "the router cannot listen on its port: look at the router",
            ),
        }
    }

    fn apply_service(&self, at: ApplyService<'_>) -> Desired<Service> {
        service(&at.this, at.table, at.this.spec.host.clone())
    }

    fn apply_pods(&self, at: ApplyPods<'_>) -> Vec<Desired<Service>> {
        let pods = at.router.pods.get(&name(at.this.meta));
        let each = |pod: &String| {
            let name = format!("{}-{pod}", at.this.spec.host);
            service(&at.this, at.table, name)
        };
        pods.into_iter().flatten().map(each).collect()
    }

    fn has_matching_connector(
        &self,
        this: This<'_, Listener>,
        router: &RouterState,
    ) -> Option<bool> {
        let does = router.does.get(&name(this.meta));
        matches!(does, Some(ListenerActivity::Up | ListenerActivity::Failed)).then_some(true)
    }
}

/// A Service on the port of the router that the table gives the Listener.
fn service(this: &This<'_, Listener>, table: &ConfigMap, called: String) -> Desired<Service> {
    let listener = name(this.meta);
    let port = Line::for_listener(table, &listener).map(|line| line.port);
    Desired::from_object(&Service {
        metadata: ObjectMeta {
            name: Some(called.clone()),
            // The set is found by it; the one Service is found by its name.
            labels: (called != this.spec.host).then(|| [(LISTENER.to_owned(), listener)].into()),
            ..ObjectMeta::default()
        },
        spec: Some(ServiceSpec {
            ports: Some(vec![ServicePort {
                port: i32::from(this.spec.port),
                protocol: Some("TCP".to_owned()),
                target_port: port.map(|port| IntOrString::Int(i32::from(port))),
                ..ServicePort::default()
            }]),
            selector: Some([("app".to_owned(), "router".to_owned())].into()),
            ..ServiceSpec::default()
        }),
        status: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listener() -> Listener {
        let mut listener = Listener::new("l", ListenerSpec::default());
        listener.metadata.uid = Some("u".to_owned());
        listener
    }

    fn table(line: &str) -> ConfigMap {
        ConfigMap {
            data: Some([("l".to_owned(), line.to_owned())].into()),
            ..ConfigMap::default()
        }
    }

    #[test]
    fn a_port_is_ours_if_the_table_names_our_uid() {
        let logic = AtSite(Router::default());
        let check = |table: &ConfigMap, expected: Claim| {
            let listener = listener();
            assert_eq!(logic.claim(This::new(&listener), table).value, expected);
        };
        check(&ConfigMap::default(), Claim::None);
        check(&table("u 1024"), Claim::Held);
        check(&table("other 1024"), Claim::Lost);
        check(&table(FULL), Claim::Full);
        check(&table("u many"), Claim::Lost);
    }

    #[test]
    fn a_router_is_behind_until_it_has_read_the_table() {
        let (logic, listener) = (AtSite(Router::default()), listener());
        let entry = |table: &ConfigMap, router: &RouterState| {
            logic.entry(This::new(&listener), table, router).value
        };
        let mut router = RouterState::default();
        assert_eq!(entry(&table("u 1024"), &router), Entry::Unknown);
        router.read(&ConfigMap::default());
        assert_eq!(entry(&table("u 1024"), &router), Entry::Behind);
        router.read(&table("u 1024"));
        assert_eq!(entry(&table("u 1024"), &router), Entry::Current);
        assert_eq!(entry(&table("u 1025"), &router), Entry::Behind);
    }
}
