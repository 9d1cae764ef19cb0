//! The whole of `run` but its signals and logs, on a simulated cluster: kinds, Lease, work, metrics, end.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::FromArgMatches as _;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt as _;
use kube::api::Api;

use super::*;
use crate::cluster::manifests::{self, Manifest};
use crate::cluster::{Cluster, Options};

const SOON: Duration = Duration::from_secs(60);

pub(crate) fn definitions() -> Vec<CustomResourceDefinition> {
    vec![mirror::Mirror::crd()]
}

pub(crate) fn program() -> Program {
    Program::new("mirror-operator", "1")
        .definitions(definitions)
        .operator(|_| mirror::operator())
}

/// Returns the answer of a server to a path.
fn http_get(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    let head = "Host: probe\r\nConnection: close";
    write!(stream, "GET {path} HTTP/1.1\r\n{head}\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// Retries until a result is available.
async fn until<T, F: Future<Output = Option<T>>>(look: impl Fn() -> F) -> T {
    let found = tokio::time::timeout(SOON, async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    found.await.expect("it is there in time")
}

/// A command line with a free port for metrics, and that port.
fn parse_run_args(more: &[&str]) -> (SocketAddr, ArgMatches) {
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = free.local_addr().expect("it is bound");
    let at = address.to_string();
    let words = ["mirror-operator", "run", "--metrics-bind-address", &at];
    let words = words.iter().chain(more).map(|word| (*word).to_owned());
    let matches = program().command().get_matches_from(words);
    (
        address,
        matches
            .subcommand_matches("run")
            .expect("run was asked for")
            .clone(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_are_told_while_its_kinds_are_waited_for() {
    let cluster = Cluster::open(Options::default()).await.unwrap();
    let (address, told) = parse_run_args(&["--disable-crd-maintenance"]);
    let options = Run::from_arg_matches(&told).unwrap();
    let (trigger, shutdown) = Shutdown::pair();
    let (client, health) = (cluster.client(), Health::default());
    let running = inside(program(), (&options, &told), (client, health), shutdown);
    let other = async {
        let counted = until(|| async move {
            let counted = tokio::task::spawn_blocking(move || http_get(address, "/metrics"));
            counted.await.unwrap().ok()
        });
        let counted = counted.await;
        assert!(counted.contains("\nlifecycle_ready 0\n"), "{counted}");
        trigger.stop();
    };
    let both = async { tokio::join!(running, other) };
    let (ended, ()) = tokio::time::timeout(2 * SOON, both).await.unwrap();
    ended.unwrap();
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_installs_its_kinds_works_under_its_lease_and_tells_what_it_counts() {
    let cluster = Cluster::open(Options::default()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace").display().to_string();
    let (address, told) = parse_run_args(&["--trace-file", &trace]);
    let options = Run::from_arg_matches(&told).unwrap();
    let (trigger, shutdown) = Shutdown::pair();
    let health = Health::default();
    let (client, its_health) = (cluster.client(), health.clone());
    let kinds = crate::definitions::kinds("mirror-operator", &[definitions]).unwrap();
    let other = async {
        until(|| async {
            crds::served(&cluster.client(), &kinds[0])
                .await
                .ok()
                .filter(|is| *is)
        })
        .await;
        let objects = Manifest::parse(Path::new("objects"), mirror::OBJECTS).unwrap();
        manifests::apply(&cluster.client(), &objects).await.unwrap();
        let copies: Api<ConfigMap> = Api::default_namespaced(cluster.client());
        until(|| async { copies.get_opt("copy").await.unwrap() }).await;
        let leases: Api<Lease> = Api::default_namespaced(cluster.client());
        let holder = |lease: Lease| lease.spec.and_then(|spec| spec.holder_identity);
        let held = leases.get("mirror-operator").await.unwrap();
        assert!(holder(held).is_some_and(|holder| !holder.is_empty()));
        let ready = || async { health.missing().is_empty().then_some(()) };
        until(ready).await;
        let counted = tokio::task::spawn_blocking(move || http_get(address, "/metrics"));
        let counted = counted.await.unwrap().unwrap();
        assert!(counted.contains("text/plain; version=0.0.4"), "{counted}");
        assert!(
            counted.contains("\nlifecycle_objects{kind=\"Mirror\",state=\""),
            "{counted}"
        );
        assert!(counted.contains("\nlifecycle_ready 1\n"), "{counted}");
        assert!(counted.contains("ended=\"done\"} 1\n"), "{counted}");
        trigger.stop();
    };
    let running = inside(program(), (&options, &told), (client, its_health), shutdown);
    let both = async { tokio::join!(running, other) };
    let (ended, ()) = tokio::time::timeout(2 * SOON, both).await.unwrap();
    ended.unwrap();
    let leases: Api<Lease> = Api::default_namespaced(cluster.client());
    let left = leases.get("mirror-operator").await.unwrap();
    let holder = left
        .spec
        .and_then(|spec| spec.holder_identity)
        .unwrap_or_default();
    assert_eq!(holder, "", "the next one need not wait");
    cluster.stop().await;
    let replayed = tokio::task::spawn_blocking(move || replayed(&trace));
    assert_eq!(
        replayed.await.unwrap(),
        [ExitCode::SUCCESS, ExitCode::from(2)].map(format_exit_code)
    );
}

/// How a replay of a recording ends, and one of a file that is none.
fn replayed(trace: &str) -> [String; 2] {
    [trace, "Cargo.toml"].map(|file| {
        let words = ["mirror-operator", "replay", file];
        let matches = program().command().get_matches_from(words);
        let told = matches.subcommand_matches("replay");
        let told = told.expect("a replay was asked for");
        format_exit_code(crate::replay::run_command(program(), told).expect("it was understood"))
    })
}

fn format_exit_code(code: ExitCode) -> String {
    format!("{code:?}")
}
