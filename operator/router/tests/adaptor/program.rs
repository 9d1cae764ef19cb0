//! The program as a process: its command line, its HTTP, its end, and the start of a router.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use clap::Parser as _;
use lifecycle_router::args::Arguments;
use lifecycle_tests::harness::{Case, eventually};
use lifecycle_tests::named;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

use crate::site::{LIMIT, agent_has, certify, changing, listener, profile, secure, write};
use crate::support::{Agent, PROTON};

const PAGE: &str = include_str!("../../../../docs/router.md");

pub(crate) fn cases() -> Vec<Case> {
    let mut all = named![single_threaded(PROTON):
        the_program_serves_the_state_and_ends_at_once_and_leaves_the_router_alone,
    ];
    all.extend(named![single_threaded(&[]):
        the_start_of_a_router_is_written_with_nothing_that_can_come_later,
    ]);
    all.extend(named![calculation():
        the_command_lines_of_the_page_are_taken,
        wrong_command_lines_are_refused,
    ]);
    all
}

fn adaptor(source: &Path, output: &Path, more: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_lifecycle-router"))
        .arg("adaptor")
        .arg("--directory")
        .arg(source)
        .arg("--certificates")
        .arg(output)
        .args(more)
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

async fn wait_for_exit(child: &mut Child) -> ExitStatus {
    let child = std::cell::RefCell::new(child);
    let ask = async || Ok(child.borrow_mut().try_wait()?);
    eventually("the process ends", LIMIT, ask).await.unwrap()
}

/// The answer of the state API, with its head.
async fn get(socket: &Path, path: &str) -> Option<String> {
    let mut stream = UnixStream::connect(socket).await.ok()?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: adaptor\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    Some(answer)
}

async fn state(socket: &Path, query: &str) -> Option<Value> {
    let answer = get(socket, &format!("/v1/state{query}")).await?;
    serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()
}

async fn the_program_serves_the_state_and_ends_at_once_and_leaves_the_router_alone() {
    let mut agent = Agent::start();
    let (source, output) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut document = json!([listener("l", 1024, "a")]);
    write(source.path(), "skrouterd.json", &document.to_string());
    let socket = source.path().join("state.sock");
    let (at, router) = (
        format!("unix:{}", socket.display()),
        format!("localhost:{}", agent.port),
    );
    let mut child = adaptor(
        source.path(),
        output.path(),
        &["--state", &at, "--router", &router, "--interval", "1"],
    );
    let is_applied = async || {
        let state = state(&socket, "").await;
        Ok(state.filter(|state| state["entries"][0]["name"] == "l"))
    };
    let state_now = eventually("the state has the entry", LIMIT, is_applied)
        .await
        .unwrap();
    assert_eq!(state_now["entries"][0]["state"], "Idle");
    let health = get(&socket, "/healthz").await.unwrap();
    assert!(health.starts_with("HTTP/1.1 200"), "{health}");
    let metrics = get(&socket, "/metrics").await.unwrap();
    assert!(metrics.contains("\nadaptor_connected 1\n"), "{metrics}");
    assert!(
        metrics.contains("\nadaptor_requests_applied_total 1\n"),
        "{metrics}"
    );

    document[0][1]["address"] = "b".into();
    let query = format!(
        "?after={}&wait=60s",
        state_now["revision"].as_str().unwrap()
    );
    let (next, ()) = tokio::join!(state(&socket, &query), async {
        write(source.path(), "skrouterd.json", &document.to_string());
    });
    assert_ne!(next.unwrap()["revision"], state_now["revision"]);
    agent_has(&mut agent, "the edit is applied", |dump| {
        dump["tcpListener"]["l"]["address"] == "b"
    })
    .await;
    changing(&mut agent);
    let before = agent.dump();
    let id = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(id, Signal::TERM).unwrap();
    assert!(wait_for_exit(&mut child).await.success());
    assert_eq!(agent.dump(), before);
    assert_eq!(changing(&mut agent), Vec::<String>::new());
}

async fn the_start_of_a_router_is_written_with_nothing_that_can_come_later() {
    let (source, output) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let output = output.path().join("made");
    let (chain, key) = certify(source.path(), "web");
    certify(source.path(), "server");
    // Each of these, from `web` on, would end a router that starts with it.
    let document = json!([
        ["router", {"id": "west-${HOSTNAME}", "mode": "interior"}],
        ["site", {"name": "west", "platform": "kubernetes"}],
        ["log", {"module": "ROUTER_CORE", "enable": "error+"}],
        ["address", {"prefix": "mc", "distribution": "multicast"}],
        ["listener", {"name": "amqp", "host": "localhost", "port": 5672}],
        ["listener", {"name": "amqps", "port": 5671, "sslProfile": "server"}],
        ["listener", {"name": "@9090", "port": 9090, "sslProfile": "gone"}],
        profile("server"),
        profile("web"),
        ["listener", {"name": "links", "role": "everything", "port": 55671}],
        ["connector", {"name": "east", "port": 55671, "verifyHostname": "perhaps"}],
        ["tcpConnector", {"name": "plain", "port": 1026, "address": "b"}],
        ["tcpListener", {"name": "multi", "port": 1027}],
        ["listenerAddress", {"name": "multi/a", "listener": "multi", "address": "a"}],
        profile("gone"),
        secure(listener("tls", 1024, "a"), "web"),
        secure(listener("lost", 1025, "a"), "gone"),
        listener("plain", 1026, "b"),
        ["unknown", {"name": "x"}],
        "no element",
    ]);
    write(source.path(), "skrouterd.json", &document.to_string());
    for _ in 0..2 {
        let mut child = adaptor(source.path(), &output, &["--init"]);
        assert!(wait_for_exit(&mut child).await.success());
        let written = fs::read(output.join("skrouterd.json")).unwrap();
        let written: Value = serde_json::from_slice(&written).unwrap();
        let file = |name: &str| output.join("server").join(name).display().to_string();
        let profile = json!(["sslProfile", {"name": "server", "caCertFile": file("ca.crt"), "certFile": file("tls.crt"), "privateKeyFile": file("tls.key")}]);
        let start = &document.as_array().unwrap()[..6];
        let expected = [start, &[profile]].concat();
        let expected = Value::from(expected);
        assert_eq!(written, expected);
        // Files of other profiles are there all the same.
        let file = |name: &str| output.join("web").join(name);
        assert_eq!(fs::read_to_string(file("tls.crt")).unwrap(), chain);
        assert_eq!(fs::read_to_string(file("tls.key")).unwrap(), key);
        assert!(!output.join("..unloaded.web").exists());
    }
}

/// Returns the commands of a page: lines of blocks with this beginning, and the `args` of
/// containers in YAML.
fn commands() -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    let joined = PAGE.replace("\\\n", " ");
    for line in joined.lines().map(str::trim) {
        if line.starts_with("lifecycle-router adaptor ") && !line.contains('`') {
            commands.push(line.split_whitespace().map(str::to_owned).collect());
        }
        if let Some(list) = line.strip_prefix("args: [adaptor") {
            let list = list.trim_end_matches(']').split(',');
            let list = list.map(|word| word.trim().trim_matches('"'));
            let words = ["lifecycle-router", "adaptor"].into_iter().chain(list);
            commands.push(
                words
                    .filter(|word| !word.is_empty())
                    .map(str::to_owned)
                    .collect(),
            );
        }
    }
    commands
}

fn the_command_lines_of_the_page_are_taken() {
    let commands = commands();
    assert!(commands.len() >= 3, "{commands:?}");
    for words in commands {
        let taken = Arguments::try_parse_from(&words);
        assert!(taken.is_ok(), "{words:?}: {}", taken.unwrap_err());
    }
}

fn wrong_command_lines_are_refused() {
    for words in [
        "adaptor",
        "adaptor --directory d --router localhost",
        "adaptor --directory d --router :5672",
        "adaptor --directory d --router localhost:0",
        "adaptor --directory d --interval 0",
        "adaptor --directory d --threads 2",
        "adaptor --directory d --site-id a/b",
        "adaptor --directory d --network-status=",
        "--directory d adaptor --directory d",
    ] {
        let words = ["lifecycle-router"].into_iter().chain(words.split(' '));
        let words: Vec<&str> = words.collect();
        assert!(Arguments::try_parse_from(&words).is_err(), "{words:?}");
    }
    let words = [
        "lifecycle-router",
        "adaptor",
        "--directory",
        "d",
        "--router",
        "[::1]:5672",
    ];
    assert!(Arguments::try_parse_from(words).is_ok());
}
