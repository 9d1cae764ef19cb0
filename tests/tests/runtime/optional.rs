//! An object that exists only sometimes, on the simulated server: it is made where the field has a
//! value, goes where it has none, and one of another owner stays as it is.

use std::time::Duration;

use k8s_openapi::api::networking::v1::Ingress;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client, CustomResource, CustomResourceExt, ResourceExt};
use lifecycle_runtime::shutdown::{Shutdown, Trigger};
use lifecycle_runtime::{Because, Desired, Operator, This, lifecycle};
use lifecycle_simulator::server::{Server, User};
use lifecycle_suite::faults::Faults;
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) fn cases() -> Vec<Case> {
    named![paused():
        an_object_is_made_where_it_is_wanted_and_goes_where_it_is_not,
        an_unwanted_name_of_another_owner_is_ignored,
        a_refused_deletion_of_an_unwanted_object_is_reported_and_repeated,
    ]
}

/// Longer than an operator waits for anything when all is well.
const QUIET: Duration = Duration::from_secs(30);
/// Longer than a refused write waits.
const REPEATED: Duration = Duration::from_secs(1200);

#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "tests.lifecycle",
    version = "v1",
    kind = "Page",
    namespaced,
    status = "PageStatus"
)]
pub(crate) struct PageSpec {
    /// Host under which it is reached, if it is.
    pub(crate) host: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PageStatus {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) phase: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub(crate) conditions: Vec<Condition>,
}

lifecycle! {
    /// A page, which others reach where it names a host.
    resource Page;

    observe {
        ingress: owned Ingress by name meta.name if spec.host;
    }
    facts {
        /// True if the Ingress exists.
        reached: bool from ingress given ingress == Current;
    }
    states {
        Taken       when ingress == Foreign     => Error wakes ingress;
        Rejected    when refused(apply_ingress) => Error wakes self, ingress;
        Removing    when ingress == Terminating => Pending;
        Routing     when ingress != Current     => Pending;
        goal Public when reached                => Ready;
        goal Hidden when !reached               => Ready;
    }
    effects {
        apply ingress;
    }
    status {
        condition Routed {
            False "Taken"    when ingress == Foreign;
            False "Rejected" when refused(apply_ingress);
            Unknown "Busy"   when ingress != Current;
            True             otherwise;
        }
        ready from Routed;
        field phase = phase;
    }
}

struct Router;

impl PageLogic for Router {
    fn reached(&self, _: This<'_, Page>, ingress: Option<&Ingress>) -> Because<bool> {
        Because::plain(ingress.is_some())
    }

    fn apply_ingress(&self, at: ApplyIngress<'_>) -> Desired<Ingress> {
        let host = at.this.spec.host.as_ref();
        let host = host.expect("it is built only where there is a host");
        let rule = json!({ "host": host });
        Desired::from_json(json!({ "spec": { "rules": [rule] } }))
    }
}

/// A server with the definition, and an operator on it.
struct World {
    server: Server,
    admin: Client,
    trigger: Option<Trigger>,
}

impl World {
    async fn new() -> Self {
        let server = Server::new(1);
        let admin = server.client(&User::admin());
        let (definitions, crd) = (Api::all(admin.clone()), Page::crd());
        let defined = definitions.create(&PostParams::default(), &crd).await;
        defined.expect("it is defined");
        Self {
            server,
            admin,
            trigger: None,
        }
    }

    fn pages(&self) -> Api<Page> {
        Api::default_namespaced(self.admin.clone())
    }

    fn ingresses(&self) -> Api<Ingress> {
        Api::default_namespaced(self.admin.clone())
    }

    async fn stop(&mut self) {
        if let Some(trigger) = self.trigger.take() {
            trigger.stop();
        }
        tokio::time::sleep(QUIET).await;
    }

    /// Starts an operator in the place of the last one, with these faults.
    async fn run(&mut self, plan: &str) -> Faults {
        self.stop().await;
        let plan = plan.parse().expect("it is a plan");
        let faults = Faults::new(plan, jiff::Timestamp::UNIX_EPOCH);
        let client = faults.line(true).client(&self.admin);
        let operator = Operator::new("tests.lifecycle").run(machine(Router));
        let operator = operator.seed(1).clock(self.server.clone());
        let (trigger, shutdown) = Shutdown::pair();
        tokio::spawn(async move { operator.start(client, shutdown).await });
        self.trigger = Some(trigger);
        tokio::time::sleep(QUIET).await;
        faults
    }

    async fn create(&self, host: Option<&str>) {
        let host = host.map(str::to_owned);
        let page = Page::new("p", PageSpec { host });
        let created = self.pages().create(&PostParams::default(), &page).await;
        created.expect("it is created");
    }

    async fn name_host(&self, host: Option<&str>) {
        let patch = Patch::Merge(json!({ "spec": { "host": host } }));
        let (pages, params) = (self.pages(), PatchParams::default());
        let patched = pages.patch("p", &params, &patch).await;
        patched.expect("it is edited");
        tokio::time::sleep(QUIET).await;
    }

    /// Returns the hosts of the Ingress; `None` if there is none.
    async fn hosts(&self) -> Option<Vec<String>> {
        let live = self.ingresses().get_opt("p").await;
        let rules = live.expect("it is read")?.spec.unwrap_or_default().rules;
        let hosts = rules.into_iter().flatten().filter_map(|rule| rule.host);
        Some(hosts.collect())
    }

    /// Returns the condition of the page, with its reason and message.
    async fn routed(&self) -> (String, String, String) {
        let page = self.pages().get("p").await.expect("it is there");
        let rows = page.status.unwrap_or_default().conditions;
        let row = rows.into_iter().find(|row| row.type_ == "Routed");
        let row = row.expect("it is reported");
        (row.status, row.reason, row.message)
    }
}

async fn an_object_is_made_where_it_is_wanted_and_goes_where_it_is_not() {
    let mut world = World::new().await;
    world.create(None).await;
    let faults = world.run("none").await;
    assert_eq!(
        (world.hosts().await, world.routed().await.0),
        (None, "True".to_owned())
    );
    assert_eq!(faults.writes(), 1, "{}", faults.journal());
    for host in ["a.example", "b.example"] {
        world.name_host(Some(host)).await;
        assert_eq!(world.hosts().await, Some(vec![host.to_owned()]));
    }
    world.name_host(None).await;
    assert_eq!(
        (world.hosts().await, world.routed().await.0),
        (None, "True".to_owned())
    );
    world.name_host(Some("a.example")).await;
    assert_eq!(world.hosts().await, Some(vec!["a.example".to_owned()]));
}

async fn an_unwanted_name_of_another_owner_is_ignored() {
    let mut world = World::new().await;
    let theirs = json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": { "name": "p" },
        "spec": { "rules": [{ "host": "their.example" }] },
    });
    let params = PatchParams::apply("somebody");
    let ingresses = world.ingresses();
    let made = ingresses.patch("p", &params, &Patch::Apply(theirs)).await;
    let version = made.expect("it is made").resource_version();
    world.create(None).await;
    world.run("none").await;
    assert_eq!(world.routed().await.0, "True");
    world.name_host(Some("a.example")).await;
    assert_eq!(world.routed().await.1, "Taken");
    world.name_host(None).await;
    assert_eq!(world.routed().await.0, "True");
    let live = world.ingresses().get("p").await.expect("it stays");
    assert_eq!(live.resource_version(), version);
}

async fn a_refused_deletion_of_an_unwanted_object_is_reported_and_repeated() {
    let mut world = World::new().await;
    world.create(Some("a.example")).await;
    world.run("none").await;
    assert_eq!(world.hosts().await, Some(vec!["a.example".to_owned()]));
    world.stop().await;
    world.name_host(None).await;
    let faults = world.run("w1:422").await;
    let (status, reason, message) = world.routed().await;
    assert_eq!(
        (status.as_str(), reason.as_str()),
        ("False", "Rejected"),
        "{message}"
    );
    assert!(world.hosts().await.is_some(), "{}", faults.journal());
    tokio::time::sleep(REPEATED).await;
    assert_eq!(
        (world.hosts().await, world.routed().await.0),
        (None, "True".to_owned())
    );
}
