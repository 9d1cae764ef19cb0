//! Plans as text, and each fault about a request, on a server of one function.

mod watching;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::Request;
use kube::Client;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::{Faults, Line, Plan, Process};
use lifecycle_client::scripted;
use lifecycle_runtime::lifecycle::CallError;

const ORIGIN: &str = "2026-06-01T12:00:00Z";

fn faults(plan: &str) -> Faults {
    let plan: Plan = plan.parse().expect("a plan");
    Faults::new(plan, ORIGIN.parse().expect("a time"))
}

/// Returns a client of a server that counts the requests that it applies, and the count.
fn server() -> (Client, Arc<AtomicU32>) {
    let done = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&done);
    let client = scripted::client(move |method, uri, _| {
        let count = Arc::clone(&count);
        async move {
            count.fetch_add(u32::from(method != "GET"), Ordering::Relaxed);
            (200, json!({ "metadata": { "name": uri } }))
        }
    });
    (client, done)
}

async fn send(client: &Client, method: &str, path: &str) -> kube::Result<Value> {
    let request = Request::builder().method(method).uri(path);
    client
        .request(request.body(Vec::new()).expect("a request"))
        .await
}

#[test]
fn a_plan_is_printed_as_it_is_written() {
    for plan in [
        "none",
        "w3:crash-before",
        "w3:crash-after r5:503 l1:409 e2:500",
        "w1:lost w2:silent r3:timeout",
        "w1:break w1:break=services w2:end r3:relist=endpointslices",
        "w1:delay=services/5s w1:delay/250ms w2:coalesce=pods/1s w3:reorder/4s w4:lag/2s",
        "w1:cut/30s w1:freeze/20s w1:second/20s",
        "w1:clock=+3600s w2:clock=-86400s",
    ] {
        let read: Plan = plan.parse().expect(plan);
        assert_eq!(read.to_string(), plan);
    }
    for wrong in [
        "w0:lost",
        "x1:lost",
        "w1:200",
        "w1:delay",
        "w1",
        "w1:lag=services/5s",
        "w1:clock=1",
    ] {
        let read: Result<Plan, _> = wrong.parse();
        assert!(read.is_err(), "{wrong}");
    }
}

/// Checks one write under a plan: how it ends, and how often the server applied it.
async fn check(plan: &str, expected: &str, applied: u32) {
    let faults = faults(plan);
    let line = faults.line(true);
    let (server, done) = server();
    let client = line.client(&server);
    let path = "/api/v1/namespaces/ns/configmaps";
    let answer = timeout(Duration::from_secs(60), send(&client, "POST", path)).await;
    let ended = match answer {
        Err(_) => "silence".to_owned(),
        Ok(Ok(_)) => "done".to_owned(),
        Ok(Err(kube::Error::Api(status))) => status.code.to_string(),
        Ok(Err(_)) => "broken".to_owned(),
    };
    assert_eq!(
        (ended.as_str(), done.load(Ordering::Relaxed)),
        (expected, applied),
        "{plan}"
    );
    assert_eq!(faults.left(), Plan::default(), "{plan}");
}

#[tokio::test(start_paused = true)]
async fn faults_about_a_request_say_whether_it_is_applied() {
    check("none", "done", 1).await;
    check("w1:crash-before", "silence", 0).await;
    check("w1:crash-after", "silence", 1).await;
    check("w1:lost", "broken", 1).await;
    check("w1:silent", "silence", 1).await;
    check("w1:timeout", "silence", 0).await;
    check("w1:cut/5s", "broken", 0).await;
    for code in [409, 422, 429, 500, 503] {
        check(&format!("w1:{code}"), &code.to_string(), 0).await;
        check(&format!("r1:{code}"), &code.to_string(), 0).await;
    }
}

#[tokio::test(start_paused = true)]
async fn requests_writes_leases_and_events_are_counted_apart() {
    let faults = faults("none");
    let (server, _) = server();
    let client = faults.line(true).client(&server);
    for (method, path) in [
        ("GET", "/api/v1/namespaces/ns/pods"),
        ("PUT", "/apis/coordination.k8s.io/v1/namespaces/ns/leases/l"),
        ("POST", "/apis/events.k8s.io/v1/namespaces/ns/events"),
        ("PATCH", "/api/v1/namespaces/ns/pods/p/status"),
        ("DELETE", "/api/v1/namespaces/ns"),
    ] {
        send(&client, method, path)
            .await
            .expect("the server answers");
    }
    let sent: Vec<_> = faults
        .sent()
        .into_iter()
        .map(|s| format!("{} {}", s.at, s.what))
        .collect();
    assert_eq!(
        sent,
        [
            "r1 GET /api/v1/namespaces/ns/pods",
            "l1 PUT /apis/coordination.k8s.io/v1/namespaces/ns/leases/l",
            "e1 POST /apis/events.k8s.io/v1/namespaces/ns/events",
            "w1 PATCH /api/v1/namespaces/ns/pods/p/status",
            "w2 DELETE /api/v1/namespaces/ns",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_outside_kubernetes_passes_through_the_same_plan() {
    async fn check(plan: &str, expected: Option<Result<u32, CallError>>, applied: bool) {
        let line = faults(plan).line(true);
        let mut done = false;
        let operation = || {
            done = true;
            Ok(7)
        };
        let answer = timeout(Duration::from_secs(60), line.mutate("put b", operation)).await;
        assert_eq!(answer.ok(), expected, "{plan}");
        assert_eq!(done, applied, "{plan}");
    }
    let failed = |why: &str| Some(Err(CallError::Failed(why.to_owned())));
    check("none", Some(Ok(7)), true).await;
    check("w1:crash-before", None, false).await;
    check("w1:crash-after", None, true).await;
    check(
        "w1:lost",
        failed("the connection was broken by a fault"),
        true,
    )
    .await;
    check("w1:503", failed("the provider answered 503"), false).await;
    check(
        "w1:422",
        Some(Err(CallError::Refused(
            "an injected fault rejects it".to_owned(),
        ))),
        false,
    )
    .await;
    check(
        "w1:cut/5s",
        failed("the connection was broken by a fault"),
        false,
    )
    .await;
}

/// Writes once a second. Logs when it began, and whether it is a second process.
async fn ticks(process: Process, log: Arc<Mutex<Vec<String>>>, began: Instant) {
    let note = |what: &str| {
        let mut log = log.lock().expect("nobody panics");
        log.push(format!("{}s {what}", began.elapsed().as_secs()));
    };
    let name = if process.is_second { "second" } else { "first" };
    note(&format!("{name} starts"));
    for _ in 0..3 {
        let _ = send(&process.client, "POST", "/api/v1/namespaces/ns/pods").await;
        note(&format!("{name} wrote"));
        sleep(Duration::from_secs(1)).await;
    }
    std::future::pending().await
}

async fn run(plan: &str) -> Vec<String> {
    let faults = faults(plan);
    let (server, _) = server();
    let (log, began) = (Arc::new(Mutex::new(Vec::new())), Instant::now());
    let start = |process| ticks(process, Arc::clone(&log), began);
    let _ = timeout(Duration::from_secs(30), faults.run(&server, start)).await;
    let log = log.lock().expect("nobody panics");
    log.clone()
}

#[tokio::test(start_paused = true)]
async fn a_process_that_crashes_is_started_anew_without_its_memory() {
    let log = run("w2:crash-after").await;
    assert_eq!(
        log,
        [
            "0s first starts",
            "0s first wrote",
            "2s first starts",
            "2s first wrote",
            "3s first wrote",
            "4s first wrote"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_process_can_be_suspended_and_another_run_beside_it() {
    let log = run("w2:freeze/10s").await;
    assert_eq!(
        log[1..4],
        ["0s first wrote", "11s first wrote", "12s first wrote"]
    );
    let log = run("w1:second/1s").await;
    let second: Vec<_> = log.iter().filter(|line| line.contains("second")).collect();
    assert_eq!(second, ["0s second starts", "0s second wrote"]);
    assert_eq!(
        log.iter()
            .filter(|line| line.ends_with("first wrote"))
            .count(),
        3
    );
}

#[tokio::test(start_paused = true)]
async fn the_wall_clock_jumps_and_time_does_not() {
    let faults = faults("w1:clock=-3600s");
    let line: Line = faults.line(true);
    let (server, _) = server();
    sleep(Duration::from_secs(5)).await;
    assert_eq!(faults.now().to_string(), "2026-06-01T12:00:05Z");
    let _ = send(&line.client(&server), "POST", "/api/v1/namespaces").await;
    assert_eq!(faults.now().to_string(), "2026-06-01T11:00:05Z");
}

#[tokio::test(start_paused = true)]
async fn equal_runs_have_equal_journals() {
    async fn journal(plan: &str) -> String {
        let faults = faults(plan);
        let (server, _) = server();
        let start = |process| ticks(process, Arc::default(), Instant::now());
        let _ = timeout(Duration::from_secs(30), faults.run(&server, start)).await;
        faults.journal()
    }
    let (first, second) = (journal("w2:lost").await, journal("w2:lost").await);
    assert_eq!(first, second);
    assert_ne!(first, journal("w1:lost").await);
    assert!(
        first.contains("1.000 p1 #2 -> the connection breaks\n"),
        "{first}"
    );
}
