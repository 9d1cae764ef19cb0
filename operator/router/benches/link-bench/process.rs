//! The compared processes, the servers behind them, and the system's measurements of them.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use clap::ValueEnum;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, SanType};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;

use crate::{THREADS, multiplexer, pool, secure};

/// Subject of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    RouterOne,
    SpliceOne,
    Multiplexer,
    RouterTwo,
    SpliceTwo,
}

impl Subject {
    pub(crate) const ALL: [Self; 5] = [
        Self::RouterOne,
        Self::SpliceOne,
        Self::Multiplexer,
        Self::RouterTwo,
        Self::SpliceTwo,
    ];

    /// Clients speak in the clear.
    pub(crate) fn is_tls(self) -> bool {
        false
    }
}

/// Role of a process of the comparison, besides routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Relay {
    Enter,
    Pass,
    Leave,
    MuxEnter,
    MuxLeave,
}

impl Relay {
    /// With certificates, from an address to an address, twice.
    pub(crate) async fn run(self, words: &[String]) {
        let directory = PathBuf::from(&words[0]);
        let ways: Vec<SocketAddr> = words[1..].iter().map(|way| way.parse().unwrap()).collect();
        let one = self.relay(ways[0], ways[1], &directory);
        let other = self.relay(ways[2], ways[3], &directory);
        tokio::join!(one, other);
    }

    async fn relay(self, from: SocketAddr, to: SocketAddr, directory: &Path) {
        match self {
            Self::Enter => pool::enter(from, to, directory).await,
            Self::Pass => pool::pass(from, to, directory).await,
            Self::Leave => pool::leave(from, to, directory).await,
            Self::MuxEnter => multiplexer::enter(from, to, directory).await,
            Self::MuxLeave => multiplexer::leave(from, to, directory).await,
        }
    }
}

/// Everything that runs.
pub(crate) struct Bench {
    directory: tempfile::TempDir,
    children: Vec<Child>,
    of: [Vec<usize>; 5],
    /// Addresses of each subject's echo and source.
    ways: [[SocketAddr; 2]; 5],
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
        for site in ["west", "hub", "east"] {
            certify(
                &directory.path().join(site).join("certs/net"),
                site,
                &authority,
            );
        }
        let certificates = directory.path().join("west/certs/net");
        let servers = [echo().await, source().await];
        let mut ports = free_ports().into_iter();
        let mut at = || SocketAddr::from(([127, 0, 0, 1], ports.next().unwrap()));
        let mut pair = || [at(), at()];
        let mut new = Self {
            connector: secure::connector(&certificates),
            directory,
            children: Vec::new(),
            of: std::array::from_fn(|_| Vec::new()),
            ways: [pair(), pair(), pair(), pair(), pair()],
        };
        new.routers(servers, pair()[0]);
        let [one, two, three, four] = [pair(), pair(), pair(), pair()];
        let chain = [
            (
                Subject::SpliceOne,
                vec![(Relay::Enter, one), (Relay::Leave, servers)],
            ),
            (
                Subject::Multiplexer,
                vec![(Relay::MuxEnter, two), (Relay::MuxLeave, servers)],
            ),
            (
                Subject::SpliceTwo,
                vec![
                    (Relay::Enter, three),
                    (Relay::Pass, four),
                    (Relay::Leave, servers),
                ],
            ),
        ];
        for (subject, relays) in chain {
            let mut from = new.ways[subject as usize];
            for (relay, to) in relays {
                let ways = [from[0], to[0], from[1], to[1]].map(|way| way.to_string());
                let mut command = Command::new(std::env::current_exe().unwrap());
                let relay = relay.to_possible_value().unwrap();
                command.args(["--relay", relay.get_name()]);
                command.arg(&certificates).args(ways);
                new.start(&mut command, &[subject]);
                from = to;
            }
        }
        for way in new.ways.iter().flatten() {
            reachable(*way).await;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        new
    }

    fn start(&mut self, command: &mut Command, of: &[Subject]) {
        for subject in of {
            self.of[*subject as usize].push(self.children.len());
        }
        self.children.push(command.spawn().unwrap());
    }

    /// Three in a row: clients of one link come in at the one in the middle.
    fn routers(&mut self, servers: [SocketAddr; 2], links: SocketAddr) {
        let listen = |ways: [SocketAddr; 2]| {
            ["echo", "source"].into_iter().zip(ways).map(|(key, way)| {
                json!(["tcpListener", {"name": key, "host": "127.0.0.1", "port": way.port(), "address": key}])
            })
        };
        let connect = ["echo", "source"].into_iter().zip(servers).map(|(key, to)| {
            json!(["tcpConnector", {"name": key, "host": "127.0.0.1", "port": to.port(), "address": key}])
        });
        let link = json!(["connector", {"name": "hub", "role": "inter-router", "host": "127.0.0.1", "port": links.port(), "sslProfile": "net"}]);
        let access = json!(["listener", {"name": "links", "role": "inter-router", "host": "127.0.0.1", "port": links.port(), "sslProfile": "net"}]);
        let one = self.ways[Subject::RouterOne as usize];
        let two = self.ways[Subject::RouterTwo as usize];
        let hub: Vec<Value> = listen(one).chain([access]).collect();
        let west: Vec<Value> = listen(two).chain([link.clone()]).collect();
        let east: Vec<Value> = connect.chain([link]).collect();
        let both = &[Subject::RouterOne, Subject::RouterTwo][..];
        for (site, elements, of) in [
            ("hub", hub, both),
            ("east", east, both),
            ("west", west, &[Subject::RouterTwo]),
        ] {
            let path = self.directory.path().join(site);
            let file = |name: &str| format!("net/{name}");
            let mut document = vec![
                json!(["router", {"id": site}]),
                json!(["sslProfile", {"name": "net", "caCertFile": file("ca.crt"), "certFile": file("tls.crt"), "privateKeyFile": file("tls.key")}]),
            ];
            document.extend(elements);
            fs::write(path.join("skrouterd.json"), json!(document).to_string()).unwrap();
            let mut command = Command::new(env!("CARGO_BIN_EXE_lifecycle-router"));
            command.arg("--directory").arg(&path);
            command.args(["--threads", &THREADS.to_string()]);
            self.start(command.env("CONSOLE_LOG_LEVEL", "warn"), of);
        }
    }

    pub(crate) fn echo(&self, subject: Subject) -> SocketAddr {
        self.ways[subject as usize][0]
    }

    pub(crate) fn source(&self, subject: Subject) -> SocketAddr {
        self.ways[subject as usize][1]
    }

    /// Seconds of CPU that the processes of a subject have used, all their threads, to the nanosecond.
    pub(crate) fn cpu(&self, subject: Subject) -> f64 {
        let of = self.of[subject as usize].iter();
        let nanoseconds = of.flat_map(|child| {
            let tasks = format!("/proc/{}/task", self.children[*child].id());
            fs::read_dir(tasks).unwrap().map(|thread| {
                let path = thread.unwrap().path().join("schedstat");
                let text = fs::read_to_string(path).unwrap_or_default();
                let first = text.split_whitespace().next().unwrap_or("0");
                first.parse::<f64>().unwrap()
            })
        });
        nanoseconds.sum::<f64>() / 1e9
    }

    /// Resident KiB of the hub, the east and the west.
    pub(crate) fn resident(&self) -> Vec<u64> {
        let of = self.of[Subject::RouterTwo as usize].iter();
        let resident = of.map(|child| {
            let path = format!("/proc/{}/status", self.children[*child].id());
            let text = fs::read_to_string(path).unwrap();
            let line = text.lines().find(|line| line.starts_with("VmRSS")).unwrap();
            line.split_whitespace().nth(1).unwrap().parse().unwrap()
        });
        resident.collect()
    }
}

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn certify(directory: &Path, site: &str, authority: &CertifiedIssuer<'static, KeyPair>) {
    fs::create_dir_all(directory).unwrap();
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let uri = format!("urn:skupper:site:{site}");
    params
        .subject_alt_names
        .push(SanType::URI(uri.try_into().unwrap()));
    let certificate = params.signed_by(&key, authority).unwrap();
    fs::write(directory.join("ca.crt"), authority.pem()).unwrap();
    fs::write(directory.join("tls.crt"), certificate.pem()).unwrap();
    fs::write(directory.join("tls.key"), key.serialize_pem()).unwrap();
}

fn free_ports() -> Vec<u16> {
    let held: Vec<_> = (0..32)
        .map(|_| std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap())
        .collect();
    held.iter()
        .map(|socket| socket.local_addr().unwrap().port())
        .collect()
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
