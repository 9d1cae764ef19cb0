//! An API server that is slow and refuses a third of all requests, with the codes of an overload: work gets done, and no storm makes it worse.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Result, ensure};
use http::{Request, Response, StatusCode};
use kube::Client;
use kube::client::Body;
use lifecycle_cli::process::cluster_domain;
use lifecycle_listener::args::Preset;
use lifecycle_listener::controller::{self, Options};
use lifecycle_runtime::health::Health;
use lifecycle_runtime::lease::Leadership;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_tests::api_server;
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use serde_json::json;

use super::super::BINARIES;
use super::super::leaders::{expose, ready};
use crate::PROGRAM;
use crate::listeners::{Cluster, OPERATOR};

pub(super) fn cases() -> Vec<Case> {
    named![case(BINARIES): b21_a_slow_api_server_that_refuses_a_third_meets_no_storm]
}

const MANY: usize = 30;
/// How long each request takes in addition.
const SLOW: Duration = Duration::from_millis(300);
/// Upper bound on the requests. A Listener needs two writes, each repeated, some statuses that
/// report it, and events.
const ENOUGH: usize = 100 + 12 * MANY;
const OVERLOADED: [StatusCode; 3] = [
    StatusCode::TOO_MANY_REQUESTS,
    StatusCode::INTERNAL_SERVER_ERROR,
    StatusCode::SERVICE_UNAVAILABLE,
];

/// The way of requests to the API server.
#[derive(Default)]
struct Overload {
    is_on: AtomicBool,
    sent: AtomicU64,
    refused: AtomicU64,
}

impl Overload {
    /// The answer to a request that is refused.
    fn refusal(&self) -> Option<Response<Body>> {
        let number = self.sent.fetch_add(1, Ordering::SeqCst);
        // Scattered, so that no request is refused each time for its place in a sequence.
        let scattered = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        if !scattered.is_multiple_of(3) {
            return None;
        }
        let refused = self.refused.fetch_add(1, Ordering::SeqCst);
        let code = OVERLOADED[usize::try_from(refused).unwrap_or_default() % OVERLOADED.len()];
        let status = json!({
            "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code.as_u16(),
            "message": "the API server has too much to do",
        });
        let mut response = Response::new(Body::from(status.to_string().into_bytes()));
        *response.status_mut() = code;
        Some(response)
    }
}

/// Returns a client that sends its requests through an overload.
fn through(overload: &Arc<Overload>, server: &Client) -> Client {
    let (server, overload) = (server.clone(), Arc::clone(overload));
    let namespace = server.default_namespace().to_owned();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (server, overload) = (server.clone(), Arc::clone(&overload));
        async move {
            if overload.is_on.load(Ordering::SeqCst) {
                tokio::time::sleep(SLOW).await;
                if let Some(refusal) = overload.refusal() {
                    return Ok::<_, kube::Error>(refusal);
                }
            }
            server.send(request).await
        }
    });
    Client::new(service, namespace)
}

fn options() -> Options {
    Options {
        cluster_domain: cluster_domain::resolve(None),
        kinds: controller::KINDS,
        maintain_crds: true,
        preset: Preset::EphemeralNodes,
        leadership: Some(Leadership {
            namespace: "default".to_owned(),
            name: "overloaded".to_owned(),
            identity: OPERATOR.to_owned(),
        }),
        max_object_size: lifecycle_runtime::operator::MAX_OBJECT_SIZE,
        watched: std::collections::BTreeSet::new(),
        csi_endpoint: None,
        health: Health::default(),
    }
}

async fn b21_a_slow_api_server_that_refuses_a_third_meets_no_storm() -> Result<()> {
    let cluster = Cluster::without_operator(PROGRAM, api_server::Options::default()).await?;
    let groups = ["system:masters"];
    let server = cluster.server.client_for(OPERATOR, &groups).await?;
    let overload = Arc::new(Overload::default());
    let client = through(&overload, &server);
    let (trigger, shutdown) = Shutdown::pair();
    let running = tokio::spawn(controller::run_controller(client, options(), shutdown));
    cluster.prepared().await?;
    overload.is_on.store(true, Ordering::SeqCst);
    expose(&cluster, "web", MANY).await?;
    ready(&cluster, "web", MANY).await?;
    let [sent, refused] =
        [&overload.sent, &overload.refused].map(|count| count.load(Ordering::SeqCst));
    eprintln!("{MANY} Listeners are Ready after {sent} requests, of which {refused} were refused");
    ensure!(refused > 0 && usize::try_from(sent)? <= ENOUGH, "{sent}");
    trigger.stop();
    running.await??;
    Ok(())
}
