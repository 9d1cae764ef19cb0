//! The controller over long times, on the simulated server and paused time: its requests while
//! nothing happens, and its reports about an event that never happens. Also its behavior if every
//! apply changes the resource version.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{Method, Request};
use k8s_openapi::api::core::v1::Service;
use kube::api::{Patch, PatchParams, PostParams};
use kube::client::Body;
use kube::{Api, Client, ResourceExt};
use lifecycle_cli::process::cluster_domain;
use lifecycle_listener::args::Preset;
use lifecycle_listener::controller::{self, Options};
use lifecycle_runtime::health::Health;
use lifecycle_runtime::shutdown::{Shutdown, Trigger};
use lifecycle_simulator::server::{Server, User};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_suite::faults::{FaultPoint, Faults, Plan};
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::listeners::{ExpectedCondition, message};

const MINUTE: Duration = Duration::from_secs(60);
const READY: ExpectedCondition<'static> = ExpectedCondition("Ready", "True", "Ready");
const TOUCHED: &str = "example.org/touched";

pub(crate) fn cases() -> Vec<Case> {
    named![paused(): b19_an_idle_hour_costs_nothing_but_watches, b4_a_day_costs_no_write_of_a_definition, b20_an_apply_that_always_makes_another_version_is_not_repeated, b39_a_load_balancer_without_an_address_is_overdue_after_ten_minutes]
}

/// A controller that runs, and the cluster that it works in.
struct Running {
    admin: Client,
    /// Requests of the controller.
    sent: Faults,
    _trigger: Trigger,
}

impl Running {
    async fn start() -> Self {
        let admin = Server::new(1).client(&User::admin());
        Self::through(&admin, &admin).await
    }

    /// Starts it with this client, and waits until the kinds and the classes of the preset are there.
    async fn through(client: &Client, admin: &Client) -> Self {
        let sent = Faults::new(Plan::default(), jiff::Timestamp::UNIX_EPOCH);
        let (trigger, shutdown) = Shutdown::pair();
        let options = Options {
            cluster_domain: cluster_domain::resolve(None),
            kinds: controller::KINDS,
            maintain_crds: true,
            preset: Preset::EphemeralNodes,
            leadership: None,
            max_object_size: lifecycle_runtime::operator::MAX_OBJECT_SIZE,
            watched: std::collections::BTreeSet::new(),
            csi_endpoint: None,
            health: Health::default(),
        };
        let client = sent.line(true).client(client);
        tokio::spawn(controller::run_controller(client, options, shutdown));
        sleep(MINUTE).await;
        Self {
            admin: admin.clone(),
            sent,
            _trigger: trigger,
        }
    }

    fn listeners(&self) -> Api<Listener> {
        Api::namespaced(self.admin.clone(), "default")
    }

    fn services(&self) -> Api<Service> {
        Api::namespaced(self.admin.clone(), "default")
    }

    async fn expose(&self, name: &str, class: &str) {
        let listener = json!({
            "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
            "metadata": { "name": name },
            "spec": { "className": class, "ports": [{ "name": "http", "port": 80 }] },
        });
        let listener = serde_json::from_value(listener).unwrap();
        let params = PostParams::default();
        self.listeners().create(&params, &listener).await.unwrap();
    }

    async fn listener(&self, name: &str) -> Listener {
        self.listeners().get(name).await.unwrap()
    }

    /// Returns the number of writes to paths that contain this text.
    fn writes(&self, path: &str) -> usize {
        let sent = self.sent.sent().into_iter();
        let writes = sent.filter(|sent| matches!(sent.at, FaultPoint::Write(_)));
        writes.filter(|sent| sent.what.contains(path)).count()
    }
}

/// The requests in a part of the log, each as it was sent.
fn requests(journal: &str) -> Vec<&str> {
    let methods = ["GET ", "POST ", "PUT ", "PATCH ", "DELETE "];
    let noted = journal.lines().filter_map(|line| {
        let (_, noted) = line.split_once(" #")?;
        noted.split_once(' ').map(|(_, what)| what)
    });
    noted
        .filter(|what| methods.iter().any(|method| what.starts_with(method)))
        .collect()
}

/// One Listener of each type, two of them Ready, and one that no Pod has mounted yet.
async fn b19_an_idle_hour_costs_nothing_but_watches() {
    let running = Running::start().await;
    for (name, class) in [
        ("inside", "cluster-internal"),
        ("balanced", "external-stable"),
        ("on-nodes", "external-unstable"),
    ] {
        running.expose(name, class).await;
    }
    sleep(MINUTE).await;
    let answer = json!({ "status": { "loadBalancer": { "ingress": [{ "ip": "192.0.2.1" }] } } });
    let (params, answer) = (PatchParams::default(), Patch::Merge(&answer));
    let services = running.services();
    let answered = services.patch_status("balanced", &params, &answer).await;
    answered.unwrap();
    sleep(MINUTE).await;
    let no_pod = ExpectedCondition("Addressed", "Unknown", "NoPod");
    for (name, wanted) in [("inside", READY), ("balanced", READY), ("on-nodes", no_pod)] {
        let listener = running.listener(name).await;
        assert!(wanted.holds_in(&listener), "{:?}", listener.status);
    }

    let before = running.sent.journal().len();
    sleep(60 * MINUTE).await;
    let journal = running.sent.journal();
    let (watches, others): (Vec<_>, Vec<_>) = requests(&journal[before..])
        .into_iter()
        .partition(|request| request.starts_with("GET ") && request.contains("watch=true"));
    assert_eq!(others, [""; 0]);
    assert!(watches.len() >= 6, "the log is not read: {watches:?}");
}

async fn b4_a_day_costs_no_write_of_a_definition() {
    let running = Running::start().await;
    running.expose("web", "cluster-internal").await;
    sleep(MINUTE).await;
    running.sent.without_journal();
    let definitions = "/customresourcedefinitions/";
    let (before, all) = (running.writes(definitions), running.sent.writes());
    assert!(before >= 3, "they were written once: {before}");
    sleep(24 * 60 * MINUTE).await;
    assert_eq!(running.writes(definitions), before);
    assert_eq!(running.sent.writes(), all, "nor of anything else");
    assert!(READY.holds_in(&running.listener("web").await));
}

/// Returns a client of a server on which each apply to a Service or a Listener makes another
/// version, even without a change. A real server does so if an apply contains a field that it does
/// not keep.
fn restless(server: &Client) -> Client {
    let (server, touches) = (server.clone(), Arc::new(AtomicU64::new(0)));
    let namespace = server.default_namespace().to_owned();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (server, touches) = (server.clone(), Arc::clone(&touches));
        async move {
            let (method, path) = (request.method().clone(), request.uri().path().to_owned());
            let answer = server.send(request).await?;
            let is_ours = path.contains("/services/") || path.contains("/listeners/");
            if method == Method::PATCH && is_ours {
                let number = touches.fetch_add(1, Ordering::Relaxed);
                touch(&server, path.trim_end_matches("/status"), number).await;
            }
            Ok::<_, kube::Error>(answer)
        }
    });
    Client::new(service, namespace)
}

async fn touch(server: &Client, path: &str, number: u64) {
    let patch = json!({ "metadata": { "annotations": { TOUCHED: number.to_string() } } });
    let request = Request::patch(path)
        .header(CONTENT_TYPE, "application/merge-patch+json")
        .body(patch.to_string().into_bytes());
    let touched: Value = server.request(request.unwrap()).await.unwrap();
    assert!(touched["metadata"]["resourceVersion"].is_string());
}

async fn b20_an_apply_that_always_makes_another_version_is_not_repeated() {
    let admin = Server::new(1).client(&User::admin());
    let running = Running::through(&restless(&admin), &admin).await;
    running.expose("web", "cluster-internal").await;
    sleep(60 * MINUTE).await;
    let listener = running.listener("web").await;
    assert!(READY.holds_in(&listener), "{:?}", listener.status);
    let service = running.services().get("web").await.unwrap();
    for annotations in [listener.annotations(), service.annotations()] {
        assert!(annotations.contains_key(TOUCHED), "the server is quiet");
    }
    for place in ["/services/web", "/listeners/web/status"] {
        let writes = running.writes(place);
        assert!((1..=2).contains(&writes), "{place}: {writes}");
    }
}

/// Nothing answers, as where a cluster has no controller of load balancers.
async fn b39_a_load_balancer_without_an_address_is_overdue_after_ten_minutes() {
    let running = Running::start().await;
    running.expose("web", "external-stable").await;
    let told = async || {
        let listener = running.listener("web").await;
        let stalled = ExpectedCondition("Stalled", "True", "WaitingForLoadBalancer");
        (message(&listener, "Ready"), stalled.holds_in(&listener))
    };
    let waits = "Service `web` has no address from a load balancer yet; check its events, and whether a load balancer controller runs";
    let overdue = "it has been Provisioning for more than 10 min";
    sleep(9 * MINUTE).await;
    let (early, is_stalled) = told().await;
    assert!(early.contains(waits) && !early.contains(overdue), "{early}");
    assert!(!is_stalled, "{early}");
    sleep(2 * MINUTE).await;
    let (late, is_stalled) = told().await;
    assert!(late.contains(waits) && late.contains(overdue), "{late}");
    assert!(is_stalled, "{late}");
}
