//! The sandbox as users start it: its exit, its output, and its handling of bad input. It needs
//! only the loopback interface.

mod sites;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

const PROGRAM: &str = env!("CARGO_BIN_EXE_lifecycle-operator");
/// Nothing that happens at all takes longer.
const SOON: Duration = Duration::from_secs(120);

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../deploy/examples")
        .join(name)
}

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .arg("sandbox")
        .args(words)
        .env_remove("CONSOLE_LOG_LEVEL");
    command
}

fn run(words: &[&str]) -> Output {
    command(words).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The one line of an error that ends with 2.
#[track_caller]
fn refused(words: &[&str]) -> String {
    let output = run(words);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    said
}

struct Running {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Running {
    fn start(words: &[&str]) -> Self {
        let mut child = command(words).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// Reads until a line holds the word, and returns that line.
    fn until(&mut self, word: &str) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(
                self.lines.read_line(&mut line).unwrap(),
                0,
                "it ended before it said `{word}`"
            );
            if line.contains(word) {
                return line;
            }
        }
    }

    /// Sends a signal, and returns how it ended.
    fn end(mut self, signal: &str) -> Option<i32> {
        let kill = Command::new("kill")
            .args([signal, &self.child.id().to_string()])
            .status()
            .unwrap();
        assert!(kill.success());
        // A pipe that no process reads would block the program.
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).unwrap();
        self.child.wait().unwrap().code()
    }
}

#[test]
fn b18_the_command_of_the_readme_takes_the_example_to_ready() {
    let readme = include_str!("../../../README.md");
    let line = readme
        .lines()
        .find(|line| line.starts_with("cargo run -p lifecycle-operator -- sandbox "))
        .unwrap();
    let file = line.rsplit(' ').next().unwrap();
    assert_eq!(file, "deploy/examples/listener.yaml");
    let output = run(&[
        "--once",
        "--timeout",
        "120",
        example("listener.yaml").to_str().unwrap(),
    ]);
    let said = text(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{said}{}",
        text(&output.stderr)
    );
    assert!(said.contains("s  default/web  Applying "), "{said}");
    assert!(
        said.contains("s  default/web  Ready         at web.default.svc.cluster.local:8080"),
        "{said}"
    );
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn a_node_port_is_told_with_the_address_of_its_node() {
    let output = run(&[
        "--once",
        "--timeout",
        "120",
        example("nodeport.yaml").to_str().unwrap(),
    ]);
    let said = text(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{said}{}",
        text(&output.stderr)
    );
    let ready = said
        .lines()
        .find(|line| line.contains("default/outside  Ready "))
        .unwrap();
    let port = ready.rsplit(':').next().unwrap();
    assert!(
        (30_000..=32_767).contains(&port.parse::<u16>().unwrap()),
        "{ready}"
    );
}

#[test]
fn b18_a_pod_that_mounts_listeners_runs_and_finds_their_addresses() {
    let output = run(&[
        "--once",
        "--timeout",
        "120",
        // In the order of the page on installing: the second needs no name that the first has.
        example("listener.yaml").to_str().unwrap(),
        example("pod.yaml").to_str().unwrap(),
    ]);
    let said = text(&output.stdout);
    let failed = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}{failed}");
    assert_eq!(failed, "");
    assert!(!said.contains("FailedMount"), "{said}");
    let mut lines = said.lines().skip_while(|line| !line.contains("Running"));
    let runs = lines.next().unwrap();
    assert!(
        runs.contains("s  default/web-0  Running       on node-"),
        "{said}"
    );
    let listener = lines.next().unwrap().trim();
    let address =
        "listener/default-address: address=web-inside.default.svc.cluster.local http=8080, in /";
    assert!(listener.starts_with(address), "{said}");
    let outside = lines.next().unwrap().trim();
    assert!(
        outside.starts_with("outside/default-address: address=192.0.2."),
        "{said}"
    );
    let folder = listener.rsplit(" in ").next().unwrap();
    assert!(
        folder.ends_with("/mount") && !Path::new(folder).exists(),
        "{folder}"
    );
}

#[test]
fn a_pod_whose_volume_cannot_be_made_ends_with_1_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.yaml");
    let pod = fs::read_to_string(example("pod.yaml")).unwrap();
    fs::write(&file, pod.replace("cluster-internal", "nowhere")).unwrap();
    let output = run(&["--once", "--timeout", "3", file.to_str().unwrap()]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.starts_with("error: not Ready within 3 s: default/web-0: Pending"),
        "{said}"
    );
    let said = text(&output.stdout);
    let reason = "default/web-inside  ProvisioningFailed  claim web-inside: failed to provision volume: rpc error: code = Unavailable desc = ";
    assert!(said.contains(reason), "{said}");
}

#[test]
fn what_is_not_ready_in_time_ends_with_1_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.yaml");
    let listener = "apiVersion: listeners.stackable.tech/v1alpha1\nkind: Listener\nmetadata: {name: odd, namespace: default}\n\
                    spec: {className: nowhere, ports: [{name: http, port: 80}]}\n";
    fs::write(&file, listener).unwrap();
    let output = run(&["--once", "--timeout", "1", file.to_str().unwrap()]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.starts_with(
            "error: not Ready within 1 s: default/odd: NoClass ListenerClassNotFound: "
        ),
        "{said}"
    );
    assert!(said.contains("`nowhere`"), "{said}");
    assert!(text(&output.stdout).contains("default/odd  NoClass "));
}

#[test]
fn both_signals_end_it_with_0_and_leave_nothing_behind() {
    for signal in ["-TERM", "-INT"] {
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = folder.path().join("kubeconfig");
        let file = example("listener.yaml");
        let mut running = Running::start(&[
            "--kubeconfig",
            kubeconfig.to_str().unwrap(),
            file.to_str().unwrap(),
        ]);
        running.until("Ctrl-C ends it");
        // A watch that is open must not keep it.
        let door = ClusterEndpoint::from_kubeconfig(&kubeconfig);
        let all = format!("{}\r\n", door.well());
        let mut watch = door.send_request("GET /api/v1/services?watch=true", &all);
        let mut head = [0; 15];
        watch.read_exact(&mut head).unwrap();
        assert_eq!(&head, b"HTTP/1.1 200 OK");
        assert_eq!(running.end(signal), Some(0));
        assert!(!kubeconfig.exists());
    }
}

/// Address and credentials of the simulated cluster, from its kubeconfig.
struct ClusterEndpoint {
    address: String,
    token: String,
    tls: Arc<ClientConfig>,
}

impl ClusterEndpoint {
    fn from_kubeconfig(kubeconfig: &Path) -> Self {
        let text = fs::read_to_string(kubeconfig).unwrap();
        let read: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
        let cluster = &read["clusters"][0]["cluster"];
        let address = cluster["server"].as_str().unwrap();
        let authority = cluster["certificate-authority-data"].as_str().unwrap();
        let authority = STANDARD.decode(authority).unwrap();
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_slice(&authority).unwrap())
            .unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let token = read["users"][0]["user"]["token"].as_str().unwrap();
        Self {
            address: address.strip_prefix("https://").unwrap().to_owned(),
            token: token.to_owned(),
            tls: Arc::new(tls),
        }
    }

    /// The headers of who may ask.
    fn well(&self) -> String {
        format!(
            "Host: {}\r\nAuthorization: Bearer {}\r\n",
            self.address, self.token
        )
    }

    fn send_request(&self, line: &str, rest: &str) -> StreamOwned<ClientConnection, TcpStream> {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let connection = ClientConnection::new(self.tls.clone(), name).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        write!(stream, "{line} HTTP/1.1\r\nConnection: close\r\n{rest}").unwrap();
        stream
    }

    fn answer(&self, line: &str, headers: &str, body: &str) -> String {
        let length = body.len();
        let rest = format!("{headers}Content-Length: {length}\r\n\r\n{body}");
        let mut answer = String::new();
        self.send_request(line, &rest)
            .read_to_string(&mut answer)
            .unwrap();
        answer
    }
}

#[test]
fn only_who_holds_the_kubeconfig_is_answered_and_no_page_in_a_browser() {
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("kubeconfig");
    let mut running = Running::start(&["--kubeconfig", kubeconfig.to_str().unwrap()]);
    running.until("Ctrl-C ends it");
    let door = ClusterEndpoint::from_kubeconfig(&kubeconfig);
    let (well, own) = (door.well(), &door.address);
    let version = door.answer("GET /version", &well, "");
    assert!(version.contains("v1.36.3"), "{version}");
    let make = "POST /api/v1/namespaces/default/configmaps";
    let body = r#"{"metadata": {"name": "made"}}"#;
    let post = |headers: &str| door.answer(make, headers, body);
    let page = format!("{well}Origin: http://evil.example\r\n");
    let elsewhere = well.replace(own.as_str(), "localhost:evil.com");
    let stranger = format!("Host: {own}\r\n");
    for (headers, code) in [(page, 403), (elsewhere, 403), (stranger, 401)] {
        let answer = post(&headers);
        assert!(answer.starts_with(&format!("HTTP/1.1 {code} ")), "{answer}");
    }
    let one = "GET /api/v1/namespaces/default/configmaps/made";
    let absent = door.answer(one, &well, "");
    assert!(absent.starts_with("HTTP/1.1 404 "), "{absent}");
    let made = post(&well);
    assert!(made.starts_with("HTTP/1.1 201 "), "{made}");
    // The server answers nothing over an unencrypted connection.
    let mut plain = TcpStream::connect(own).unwrap();
    plain.set_read_timeout(Some(SOON)).unwrap();
    // In one piece, for after the first the door may be closed.
    let request = format!("GET /version HTTP/1.1\r\n{well}\r\n");
    plain.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _aborted = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    assert_eq!(running.end("-TERM"), Some(0));
}

#[test]
fn a_client_of_kubernetes_needs_nothing_but_the_kubeconfig() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kubeconfig");
    let mut running = Running::start(&["--kubeconfig", path.to_str().unwrap()]);
    running.until("Ctrl-C ends it");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let nodes = runtime.block_on(async {
        let kubeconfig = kube::config::Kubeconfig::read_from(&path).unwrap();
        let chosen = kube::config::KubeConfigOptions::default();
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &chosen);
        let client = lifecycle_runtime::kube::client(config.await.unwrap()).unwrap();
        let nodes: kube::Api<k8s_openapi::api::core::v1::Node> = kube::Api::all(client);
        nodes.list(&kube::api::ListParams::default()).await.unwrap()
    });
    assert_eq!(nodes.items.len(), 2);
    assert_eq!(running.end("-TERM"), Some(0));
}

#[test]
fn bad_input_is_one_line_and_ends_with_2() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let good = write(
        "good.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
    );
    let broken = write("broken.yaml", "a: [\n");
    let unknown = write(
        "unknown.yaml",
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: example.org/v1\nkind: Thing\nmetadata: {name: a}\n",
    );
    let wrong = write(
        "wrong.yaml",
        "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {prots: []}\n",
    );
    let elsewhere = write(
        "elsewhere.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a/../../secrets/b}\n",
    );
    assert!(refused(&[&elsewhere]).contains("no ConfigMap can be named `a/../../secrets/b`"));
    let missing = folder.path().join("missing.yaml");
    assert!(refused(&[missing.to_str().unwrap()]).contains("missing.yaml cannot be read"));
    assert!(refused(&[&broken]).contains("broken.yaml is not YAML"));
    assert!(
        refused(&[&unknown]).contains(
            "unknown.yaml, document 2: the cluster serves no kind Thing of example.org/v1"
        )
    );
    assert!(refused(&[&wrong]).contains("wrong.yaml, document 1: Service a cannot be applied: "));
    assert!(refused(&["--once", &good]).contains("contain no Listener"));
    assert!(
        refused(&["--kubeconfig", &good])
            .contains("good.yaml is there and was not written by the sandbox")
    );
    assert!(refused(&["--kubeconfig", "/nowhere/at/all"]).contains("/nowhere/at/all"));
    assert_eq!(run(&["--once"]).status.code(), Some(2));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    assert!(refused(&["--port", &port]).contains(&format!("port {port} is in use")));
}
