//! Cost of ten thousand Listeners: written, watched and read at the simulated API server alone,
//! then settled by the operator. Prints one line per measurement, and contacts no real server.

#![allow(clippy::print_stdout, reason = "printing is what it is for")]

#[path = "../tests/e2e/settling.rs"]
mod settling;

use std::fs;
use std::task::{Context, Poll, Waker};

use anyhow::{Context as _, Result, ensure};
use futures::{FutureExt, StreamExt};
use http::Request;
use lifecycle_simulator::server::{Chunks, Content};
use lifecycle_simulator::{Server, User};
use lifecycle_specs_listener::crds;
use serde_json::{Value, json};
use settling::settle;

const LISTENERS: usize = 10_000;
const WATCHES: usize = 10;
const PATH: &str = "/apis/listeners.stackable.tech/v1alpha1/namespaces/default/listeners";

fn main() -> Result<()> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    // Waiting takes no real time, because the clock is paused.
    let runtime = builder.enable_time().start_paused(true).build()?;
    runtime.block_on(async { alone() })?;
    println!("{}", runtime.block_on(settle(LISTENERS))?);
    Ok(())
}

fn alone() -> Result<()> {
    let profile = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    println!("{LISTENERS} Listeners, {profile} build");
    let server = Server::new(1);
    for definition in crds() {
        let definition = serde_json::to_value(definition)?;
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        request_json(&server, "POST", path, &definition)?;
    }
    let mut meter = Meter::start()?;
    for number in 0..LISTENERS {
        request_json(&server, "POST", PATH, &listener(number))?;
    }
    meter.report("created")?;
    let mut watches = Vec::new();
    for _ in 0..WATCHES {
        let path = format!("{PATH}?watch=true&resourceVersion={}", server.revision());
        watches.push(watch(&server, &path)?);
    }
    for number in 0..LISTENERS {
        let path = format!("{PATH}/listener-{number}/status");
        request_json(&server, "PATCH", &path, &status())?;
    }
    meter.report("reported")?;
    let mut events = 0;
    for chunks in &mut watches {
        events += drain(chunks);
    }
    ensure!(events == LISTENERS * WATCHES, "{events} events");
    meter.report(&format!("{events} events read by {WATCHES} watches"))?;
    let mut listed = 0;
    let mut path = format!("{PATH}?limit=500");
    loop {
        let page = request_json(&server, "GET", &path, &Value::Null)?;
        listed += page["items"].as_array().map_or(0, Vec::len);
        // Lists of custom kinds always have the field; on the last page it is empty.
        let token = page["metadata"]["continue"].as_str().unwrap_or_default();
        if token.is_empty() {
            break;
        }
        path = format!("{PATH}?limit=500&continue={token}");
    }
    ensure!(listed == LISTENERS, "{listed} listed");
    meter.report("listed in pages of 500, decoded")?;
    server.compact();
    meter.report("history forgotten")?;
    for number in 0..LISTENERS {
        request_json(
            &server,
            "DELETE",
            &format!("{PATH}/listener-{number}"),
            &Value::Null,
        )?;
    }
    meter.report("deleted")?;
    Ok(())
}

fn listener(number: usize) -> Value {
    json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
        "metadata": {"name": format!("listener-{number}"), "labels": {"app.kubernetes.io/name": "bench"}},
        "spec": {"className": "external-unstable", "ports": [
            {"name": "http", "port": 8080, "protocol": "TCP"}, {"name": "https", "port": 8443, "protocol": "TCP"},
        ]},
    })
}

fn status() -> Value {
    json!({"status": {
        "serviceName": "listener", "nodePorts": {"http": 30080, "https": 30443},
        "ingressAddresses": [
            {"address": "192.0.2.1", "addressType": "IP", "ports": {"http": 30080, "https": 30443}},
        ],
    }})
}

fn reply(server: &Server, method: &str, path: &str, body: &Value) -> Result<Content> {
    let kind = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let bytes = if body.is_null() {
        Vec::new()
    } else {
        body.to_string().into_bytes()
    };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", kind);
    let reply = server.serve(&User::admin(), &request.body(bytes)?);
    ensure!(reply.status < 300, "{method} {path}: {}", reply.status);
    Ok(reply.content)
}

fn request_json(server: &Server, method: &str, path: &str, body: &Value) -> Result<Value> {
    match reply(server, method, path, body)? {
        Content::Whole(bytes) => Ok(serde_json::from_slice(&bytes)?),
        Content::Watch(_) => anyhow::bail!("{path} is a watch"),
    }
}

fn watch(server: &Server, path: &str) -> Result<Chunks> {
    match reply(server, "GET", path, &Value::Null)? {
        Content::Watch(chunks) => Ok(chunks),
        Content::Whole(_) => anyhow::bail!("{path} is no watch"),
    }
}

/// Counts the events that are there.
fn drain(chunks: &mut Chunks) -> usize {
    let mut context = Context::from_waker(Waker::noop());
    let mut events = 0;
    while let Poll::Ready(Some(chunk)) = chunks.next().poll_unpin(&mut context) {
        events += chunk.iter().filter(|byte| **byte == b'\n').count();
    }
    events
}

/// Memory and processor time since the last line.
struct Meter {
    memory: i64,
    ticks: i64,
}

impl Meter {
    fn start() -> Result<Self> {
        Ok(Self {
            memory: memory()?,
            ticks: ticks()?,
        })
    }

    fn report(&mut self, what: &str) -> Result<()> {
        let (memory, ticks) = (memory()?, ticks()?);
        // A tick of `/proc` is a hundredth of a second.
        println!(
            "{what}: {} ms of processor time, {:+} KiB, {memory} KiB resident",
            (ticks - self.ticks) * 10,
            memory - self.memory
        );
        *self = Self { memory, ticks };
        Ok(())
    }
}

fn memory() -> Result<i64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.context("no VmRSS in /proc/self/status")?.parse()?)
}

fn ticks() -> Result<i64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, rest) = stat
        .rsplit_once(')')
        .context("no name in /proc/self/stat")?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let field = |index: usize| -> Result<i64> {
        Ok(fields
            .get(index)
            .context("too few fields in /proc/self/stat")?
            .parse()?)
    };
    Ok(field(11)? + field(12)?)
}
