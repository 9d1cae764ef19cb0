//! `lifecycle-operator cluster`: its initial objects, its record, and its exit.

#[path = "../../cli/examples/cluster.rs"]
mod example;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod, Secret};
use kube::api::{Api, DynamicObject, ListParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use lifecycle_tests::harness::run_within;
use lifecycle_tests::scraped::{free_address, with_lines};
use serde_json::{Value, json};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_lifecycle-operator");

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .arg("cluster")
        .args(words)
        .env_remove("CONSOLE_LOG_LEVEL");
    command
}

#[track_caller]
fn refused(words: &[&str]) -> String {
    let output = command(words).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    said
}

/// One that is ready.
pub(crate) fn started(words: &[&str]) -> Child {
    let mut child = command(words).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut said = lines.map(|line| line.unwrap());
    assert!(
        said.any(|line| line.starts_with("ready")),
        "it ended before it was ready"
    );
    child
}

pub(crate) fn stop(mut child: Child) -> Option<i32> {
    let kill = Command::new("kill").arg(child.id().to_string()).status();
    assert!(kill.unwrap().success());
    child.wait().unwrap().code()
}

pub(crate) async fn client(kubeconfig: &Path) -> kube::Client {
    let read = kube::config::Kubeconfig::read_from(kubeconfig).unwrap();
    let chosen = kube::config::KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(read, &chosen);
    lifecycle_runtime::kube::client(config.await.unwrap()).unwrap()
}

const DEFINITION: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.acme.test}
spec:
  group: acme.test
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
";

const FIXTURES: &str = "
apiVersion: acme.test/v1
kind: Gadget
metadata: {name: first, namespace: default}
spec: {size: 3}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
";

#[test]
fn a_client_finds_the_fixtures_and_what_became_of_them_and_its_requests_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("crd.yaml"), DEFINITION).unwrap();
    fs::write(path("fixtures.yaml"), FIXTURES).unwrap();
    let text = |name: &str| path(name).to_str().unwrap().to_owned();
    let (kubeconfig, record) = (text("kubeconfig"), text("requests"));
    let child = started(&[
        "--crds",
        &text("crd.yaml"),
        "--apply",
        &text("fixtures.yaml"),
        "--kubeconfig",
        &kubeconfig,
        "--record",
        &record,
    ]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let client = client(&path("kubeconfig")).await;
        let gadget = ApiResource::from_gvk(&GroupVersionKind::gvk("acme.test", "v1", "Gadget"));
        let gadgets: Api<DynamicObject> = Api::default_namespaced_with(client.clone(), &gadget);
        assert_eq!(gadgets.get("first").await.unwrap().data["spec"]["size"], 3);
        let nodes: Api<Node> = Api::all(client.clone());
        assert_eq!(
            nodes
                .list(&ListParams::default())
                .await
                .unwrap()
                .items
                .len(),
            2
        );
        let pods: Api<Pod> = Api::default_namespaced(client.clone());
        // The controllers of the cluster work.
        let two = async {
            while pods.list(&ListParams::default()).await.unwrap().items.len() < 2 {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        let came = run_within(std::time::Duration::from_secs(60), two).await;
        came.expect("two Pods come");
        let secrets: Api<Secret> = Api::default_namespaced(client.clone());
        let secret =
            json!({ "metadata": { "name": "s" }, "stringData": { "password": "correct horse" } });
        let secret = serde_json::from_value(secret).unwrap();
        secrets
            .create(&PostParams::default(), &secret)
            .await
            .unwrap();
        let maps: Api<ConfigMap> = Api::default_namespaced(client);
        let map = json!({ "metadata": { "name": "m" }, "data": { "a": "b" } });
        maps.create(
            &PostParams::default(),
            &serde_json::from_value(map).unwrap(),
        )
        .await
        .unwrap();
        assert!(maps.get_opt("nowhere").await.unwrap().is_none());
    });
    assert_eq!(stop(child), Some(0));
    assert!(!path("kubeconfig").exists());
    check_recorded(&fs::read_to_string(path("requests")).unwrap());
}

/// Checks the recorded requests of the test above.
#[track_caller]
fn check_recorded(text: &str) {
    assert!(!text.contains("correct horse"), "{text}");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |verb: &str, end: &str| {
        let found = lines.iter().find(|line| {
            line["verb"] == verb
                && line["path"]
                    .as_str()
                    .is_some_and(|path| path.split('?').next().unwrap().ends_with(end))
        });
        found.unwrap_or_else(|| panic!("no {verb} of {end} in:\n{text}"))
    };
    assert_eq!(of("get", "/gadgets/first")["code"], 200);
    assert_eq!(of("get", "/configmaps/nowhere")["code"], 404);
    assert_eq!(of("create", "/configmaps")["body"]["data"]["a"], "b");
    assert_eq!(
        of("create", "/secrets")["body"],
        "left out: it holds a secret"
    );
    assert_eq!(of("list", "/nodes")["user"], "admin");
    // Operations of the cluster itself are not recorded as requests.
    assert!(lines.iter().all(|line| line["user"] == "admin"), "{text}");
}

#[test]
fn bad_input_is_one_line_and_ends_with_2() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (definition, fixtures) = (
        write("crd.yaml", DEFINITION),
        write("fixtures.yaml", FIXTURES),
    );
    assert!(
        refused(&["--apply", &fixtures])
            .contains("the cluster serves no kind Gadget of acme.test/v1")
    );
    assert!(refused(&["--crds", &fixtures]).contains("--apply"));
    assert!(
        refused(&["--crds", &write("empty.yaml", "# nothing\n")])
            .contains("no CustomResourceDefinition")
    );
    let crooked = definition_without_group(&definition);
    assert!(refused(&["--crds", &write("crooked.yaml", &crooked)]).contains("cannot be applied"));
    assert!(refused(&["--record", "/nowhere/at/all"]).contains("--record"));
    assert!(refused(&["--kubeconfig", &fixtures]).contains("was not written by the sandbox"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    assert!(refused(&["--port", &port]).contains("is in use"));
}

fn definition_without_group(path: &str) -> String {
    let text = fs::read_to_string(path).unwrap();
    text.replace("  group: acme.test\n", "")
}

#[tokio::test]
async fn the_few_lines_of_rust_do_the_same() {
    assert_eq!(example::pods_of_a_deployment().await.unwrap(), 2);
    let page = include_str!("../../../docs/cluster.md");
    let (_, shown) = page.split_once("```rust\n").unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    let compiled = include_str!("../../cli/examples/cluster.rs");
    assert!(compiled.contains(shown), "the page shows something else");
}

#[test]
fn its_operators_are_scraped_at_the_port_of_their_probes() {
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("kubeconfig");
    let cluster = started(&["--kubeconfig", kubeconfig.to_str().unwrap()]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for part in ["controller", "skupper"] {
        let at = free_address().unwrap();
        let mut command = Command::new(PROGRAM);
        command
            .arg("run")
            .arg(format!("--health-probe-bind-address={at}"))
            .arg(part)
            .env("ROUTER_IMAGE", "router:test")
            .env("KUBECONFIG", &kubeconfig);
        let operator = command.spawn().unwrap();
        let scraped = runtime.block_on(with_lines(at, &["lifecycle_ready 1"]));
        assert_eq!(stop(operator), Some(0));
        scraped.unwrap();
    }
    assert_eq!(stop(cluster), Some(0));
}
