//! The compared processes, the servers behind them, and the system's measurements of them.

use std::fs;
use std::net::SocketAddr;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::client::Resumption;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;

use crate::THREADS;

/// Subject of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    Router,
    Splice,
    RouterTls,
    SpliceTls,
}

impl Subject {
    pub(crate) const ALL: [Self; 4] =
        [Self::Router, Self::Splice, Self::RouterTls, Self::SpliceTls];

    pub(crate) fn is_tls(self) -> bool {
        matches!(self, Self::RouterTls | Self::SpliceTls)
    }
}

/// Everything that runs.
pub(crate) struct Bench {
    _directory: tempfile::TempDir,
    children: Vec<Child>,
    /// Addresses of each subject's echo and source.
    echo: [SocketAddr; 4],
    source: [SocketAddr; 4],
    pub(crate) connector: TlsConnector,
}

impl Drop for Bench {
    fn drop(&mut self) {
        for child in &mut self.children {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

impl Bench {
    pub(crate) async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let authority = authority();
        let certificates = directory.path().join("certs/web");
        fs::create_dir_all(&certificates).unwrap();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &authority).unwrap();
        fs::write(certificates.join("ca.crt"), authority.pem()).unwrap();
        fs::write(certificates.join("tls.crt"), certificate.pem()).unwrap();
        fs::write(certificates.join("tls.key"), key.serialize_pem()).unwrap();
        let (echo, source) = (echo().await, source().await);
        let ports = free_ports();
        let at = |index: usize| SocketAddr::from(([127, 0, 0, 1], ports[index]));
        let listener = |index: usize, key: &str, tls: bool| {
            let profile = if tls { "web" } else { "" };
            json!(["tcpListener", {"name": format!("l{index}"), "port": ports[index], "address": key, "sslProfile": profile}])
        };
        let connector = |key: &str, to: SocketAddr| json!(["tcpConnector", {"name": key, "host": "127.0.0.1", "port": to.port(), "address": key}]);
        let file = |name: &str| format!("web/{name}");
        let document = json!([
            ["sslProfile", {"name": "web", "caCertFile": file("ca.crt"), "certFile": file("tls.crt"), "privateKeyFile": file("tls.key")}],
            listener(0, "echo", false), listener(1, "source", false),
            listener(2, "echo", true), listener(3, "source", true),
            connector("echo", echo), connector("source", source),
        ]);
        fs::write(
            directory.path().join("skrouterd.json"),
            document.to_string(),
        )
        .unwrap();
        let router = Command::new(env!("CARGO_BIN_EXE_lifecycle-router"))
            .arg("--directory")
            .arg(directory.path())
            .args([
                "--bind-address",
                "127.0.0.1",
                "--threads",
                &THREADS.to_string(),
            ])
            .env("CONSOLE_LOG_LEVEL", "warn")
            .spawn()
            .unwrap();
        let mut children = vec![router];
        for (first, tls) in [(4, false), (6, true)] {
            let mut command = Command::new(std::env::current_exe().unwrap());
            let ways = [at(first), echo, at(first + 1), source];
            command
                .arg("--splice")
                .args(ways.map(|way| way.to_string()));
            if tls {
                command.arg(&certificates);
            }
            children.push(command.spawn().unwrap());
        }
        for index in 0..8 {
            reachable(at(index)).await;
        }
        let new = Self {
            _directory: directory,
            children,
            echo: [at(0), at(4), at(2), at(6)],
            source: [at(1), at(5), at(3), at(7)],
            connector: client(&authority),
        };
        tokio::time::sleep(Duration::from_secs(1)).await;
        new
    }

    pub(crate) fn echo(&self, subject: Subject) -> SocketAddr {
        self.echo[subject as usize]
    }

    pub(crate) fn source(&self, subject: Subject) -> SocketAddr {
        self.source[subject as usize]
    }

    /// The process of a subject.
    fn id(&self, subject: Subject) -> u32 {
        let child = match subject {
            Subject::Router | Subject::RouterTls => 0,
            Subject::Splice => 1,
            Subject::SpliceTls => 2,
        };
        self.children[child].id()
    }

    /// Seconds of CPU that a subject has used, all its threads, to the nanosecond.
    pub(crate) fn cpu(&self, subject: Subject) -> f64 {
        let threads = fs::read_dir(format!("/proc/{}/task", self.id(subject))).unwrap();
        let nanoseconds = threads.map(|thread| {
            let path = thread.unwrap().path().join("schedstat");
            let text = fs::read_to_string(path).unwrap_or_default();
            let first = text.split_whitespace().next().unwrap_or("0");
            first.parse::<f64>().unwrap()
        });
        nanoseconds.sum::<f64>() / 1e9
    }

    /// Resident KiB.
    pub(crate) fn resident(&self, subject: Subject) -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/status", self.id(subject))).unwrap();
        let line = text.lines().find(|line| line.starts_with("VmRSS")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A client that makes a whole handshake each time.
fn client(authority: &CertifiedIssuer<'static, KeyPair>) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    TlsConnector::from(Arc::new(config))
}

fn free_ports() -> [u16; 8] {
    let held: Vec<_> = (0..8)
        .map(|_| std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap())
        .collect();
    std::array::from_fn(|index| held[index].local_addr().unwrap().port())
}

async fn reachable(address: SocketAddr) {
    while TcpStream::connect(address).await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn echo() -> SocketAddr {
    let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = socket.accept().await.unwrap();
            stream.set_nodelay(true).ok();
            tokio::spawn(async move {
                let mut bytes = [0; 4096];
                while let Ok(read @ 1..) = stream.read(&mut bytes).await {
                    if stream.write_all(&bytes[..read]).await.is_err() {
                        break;
                    }
                }
            });
        }
    });
    address
}

async fn source() -> SocketAddr {
    let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = socket.accept().await.unwrap();
            tokio::spawn(async move {
                let bytes = vec![0x5a; 256 * 1024];
                while stream.write_all(&bytes).await.is_ok() {}
            });
        }
    });
    address
}
