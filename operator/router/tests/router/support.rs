//! Support for tests: a site with an address of its own, servers, clients, and random bytes.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use lifecycle_router::config::Profile;
use lifecycle_router::router::{Options, Router};
use lifecycle_router::snapshot::Snapshot;
use lifecycle_router::state::{State, Status};
use lifecycle_router::tls::{Files, MissingFile};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// How long anything is waited for.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// Returns a loopback address that no other test uses: it encodes the process, and one of 1,250
/// numbers within it.
pub(crate) fn address() -> IpAddr {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    assert!(number < 1_250, "too many addresses for one process");
    let process = std::process::id() % 12_500;
    let parts = [process / 50, process % 50 * 5 + number / 250, number % 250];
    let [a, b, c] = parts.map(|part| u8::try_from(part + 1).unwrap());
    IpAddr::V4(Ipv4Addr::new(127, a, b, c))
}

/// Returns a port without a listener. It is equal in the whole process for equal numbers below 256.
/// It is none of the ports that the system assigns to connections.
pub(crate) fn port(number: u16) -> u16 {
    static FIRST: OnceLock<u16> = OnceLock::new();
    let first = FIRST.get_or_init(|| {
        let process = u16::try_from(std::process::id() % 40).unwrap();
        let mut starts = (0..40).map(|turn| 20_000 + (process + turn) % 40 * 256);
        let is_free = |port| std::net::TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok();
        starts
            .find(|start| (*start..start + 256).all(is_free))
            .expect("256 free ports in a row")
    });
    assert!(number < 256);
    first + number
}

/// Allows as many open files as the system does, for tests with many connections.
pub(crate) fn many_files() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, raised).unwrap();
}

/// A router in this process.
pub(crate) struct TestSite {
    pub(crate) router: Router,
    pub(crate) address: IpAddr,
}

impl TestSite {
    pub(crate) fn new() -> Self {
        Self::with_options(Options::default())
    }

    pub(crate) fn with_options(options: Options) -> Self {
        let address = address();
        let options = Options {
            bind_address: Some(address),
            ..options
        };
        let router = Router::new(options);
        Self { router, address }
    }

    /// Applies a document without profiles.
    pub(crate) async fn apply(&self, document: &Value) {
        self.apply_with(document, &Files::new()).await;
    }

    pub(crate) async fn apply_with(&self, document: &Value, files: &Files) {
        let text = serde_json::to_vec(document).unwrap();
        let absent = || Err(MissingFile::Unread("no such file".to_owned()));
        let file =
            |_: &str, _: &Profile, path: &str| files.get(path).cloned().unwrap_or_else(absent);
        let snapshot = Snapshot::read(&text, file).unwrap();
        self.router.apply(snapshot).await;
    }

    pub(crate) fn state(&self) -> State {
        self.router.state().now()
    }

    pub(crate) fn status(&self, listener: &str) -> Status {
        let state = self.state();
        state.entry("tcpListener", listener).unwrap().status.clone()
    }

    /// Waits until a listener has this status, or its message holds this text.
    pub(crate) async fn until(&self, listener: &str, wanted: impl Fn(&Status) -> bool) {
        let mut state = self.state();
        let waited = timeout(LIMIT, async {
            while !wanted(&state.entry("tcpListener", listener).unwrap().status) {
                state = self.router.state().after(&state.revision, LIMIT).await;
            }
        });
        if waited.await.is_err() {
            panic!("{listener} stays {:?}", self.status(listener));
        }
    }

    /// Waits until the state is as wanted.
    pub(crate) async fn until_state(&self, wanted: impl Fn(&State) -> bool) {
        let mut state = self.state();
        let waited = timeout(LIMIT, async {
            while !wanted(&state) {
                state = self.router.state().after(&state.revision, LIMIT).await;
            }
        });
        let waited = waited.await;
        assert!(waited.is_ok(), "the state stays {:?}", self.state());
    }

    pub(crate) async fn connect(&self, port: u16) -> TcpStream {
        TcpStream::connect((self.address, port)).await.unwrap()
    }

    pub(crate) async fn is_refused(&self, port: u16) -> bool {
        let tried = TcpStream::connect((self.address, port)).await;
        tried.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
    }

    /// Waits until this many connections are open.
    pub(crate) async fn open(&self, wanted: usize) {
        eventually("open connections", || self.router.open() == wanted).await;
    }
}

pub(crate) async fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let waited = timeout(LIMIT, async {
        while !is_so() {
            sleep(Duration::from_millis(5)).await;
        }
    });
    assert!(waited.await.is_ok(), "{what}: waited in vain");
}

pub(crate) fn listener(name: &str, port: u16, key: &str) -> Value {
    json!(["tcpListener", {"name": name, "port": port.to_string(), "address": key, "siteId": "s"}])
}

/// Returns a connector of a Pod, so that only clients connect to its server.
pub(crate) fn connector(name: &str, to: SocketAddr, key: &str) -> Value {
    let of_pod = json!({ "processId": "p" });
    and(host_connector(name, to, key), &of_pod)
}

/// Of a server without a Pod.
pub(crate) fn host_connector(name: &str, to: SocketAddr, key: &str) -> Value {
    json!(["tcpConnector", {"name": name, "host": to.ip().to_string(), "port": to.port().to_string(), "address": key, "siteId": "s"}])
}

/// The element with more attributes.
pub(crate) fn and(mut element: Value, more: &Value) -> Value {
    let attributes = element[1].as_object_mut().unwrap();
    attributes.extend(more.as_object().unwrap().clone());
    element
}

pub(crate) fn random_bytes(size: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; size];
    Pcg64::seed_from_u64(seed).fill(&mut bytes[..]);
    bytes
}

/// A server on loopback that does the same with every connection.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    pub(crate) async fn new<F, R>(serve: F) -> Self
    where
        F: Fn(TcpStream) -> R + Send + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        Self::serve_at(SocketAddr::new(address(), 0), serve).await
    }

    pub(crate) async fn serve_at<F, R>(address: SocketAddr, serve: F) -> Self
    where
        F: Fn(TcpStream) -> R + Send + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        let socket = TcpListener::bind(address).await.unwrap();
        let address = socket.local_addr().unwrap();
        let accepted = Arc::new(AtomicUsize::new(0));
        let counted = accepted.clone();
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = socket.accept().await.unwrap();
                counted.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(serve(stream));
            }
        });
        Self {
            address,
            accepted,
            task,
        }
    }

    /// Starts a server that echoes.
    pub(crate) async fn echo() -> Self {
        Self::new(async |stream| echo(stream).await).await
    }

    /// Starts a server that sends its name and closes.
    pub(crate) async fn named(name: &'static str) -> Self {
        Self::new(move |mut stream| async move {
            stream.write_all(name.as_bytes()).await.ok();
        })
        .await
    }

    /// Is gone when this returns: dropped, it may take one more connection, and then resets it.
    pub(crate) async fn end(mut self) {
        self.task.abort();
        (&mut self.task).await.ok();
    }

    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::Relaxed)
    }
}

pub(crate) async fn echo(stream: impl AsyncRead + AsyncWrite) {
    let (mut from, mut to) = tokio::io::split(stream);
    if tokio::io::copy(&mut from, &mut to).await.is_ok() {
        to.shutdown().await.ok();
    }
}

/// Returns the text that a server sends until it closes.
pub(crate) async fn read_until_close(mut stream: impl AsyncRead + Unpin) -> String {
    let mut text = String::new();
    with_timeout(stream.read_to_string(&mut text))
        .await
        .unwrap();
    text
}

pub(crate) async fn with_timeout<F: Future>(future: F) -> F::Output {
    timeout(LIMIT, future).await.expect("it takes too long")
}

/// One exchange on an open connection to an echo.
pub(crate) async fn ping(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), seed: u64) {
    let bytes = random_bytes(1 + seed as usize % 3000, seed);
    with_timeout(stream.write_all(&bytes)).await.unwrap();
    with_timeout(stream.flush()).await.unwrap();
    let mut back = vec![0; bytes.len()];
    with_timeout(stream.read_exact(&mut back)).await.unwrap();
    assert!(back == bytes, "other bytes came back");
}

/// Returns true if the connection was aborted rather than ended.
pub(crate) async fn is_reset(stream: &mut (impl AsyncRead + Unpin)) -> bool {
    let mut rest = Vec::new();
    let ended = with_timeout(stream.read_to_end(&mut rest)).await;
    ended.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset)
}

/// Observations of servers, for tests that check both ends.
pub(crate) type Recorded<T> = Arc<Mutex<Vec<T>>>;
