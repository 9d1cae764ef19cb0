//! Shared code of the tests of this suite: test cases, helpers that make Listeners and Connectors,
//! and backend servers.

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use crate::place::{SOON, TestEnv, TestNamespace};
use anyhow::{Context, Result, anyhow, bail, ensure};
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_tests::audit::Entry;
use lifecycle_tests::harness::{Case, Deadline, Need, case};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub(crate) const NEEDS: &[Need] = &[Need::Binaries, Need::ControllerManager];

/// A test in a namespace of its own, beside others.
pub(crate) fn shared<F, R>(name: &'static str, run: F) -> Case
where
    F: FnOnce(TestNamespace) -> R + Send + 'static,
    R: Future<Output = Result<()>>,
{
    case(name, NEEDS, move || async move {
        let env = TestEnv::shared().await?;
        run(TestNamespace::new(env, name).await?).await
    })
}

/// Creates a Listener on port 8080 of a host with its own name, with the key `backend`. `spec`
/// overrides these fields.
pub(crate) async fn listen(place: &TestNamespace, name: &str, spec: Value) -> Result<Listener> {
    let whole = merged(
        json!({ "routingKey": "backend", "host": name, "port": 8080 }),
        spec,
    );
    place.make(name, json!({ "spec": whole })).await
}

/// Creates a Connector of the key `backend` to a server. `spec` overrides the fields.
pub(crate) async fn connect(
    place: &TestNamespace,
    name: &str,
    to: SocketAddr,
    spec: Value,
) -> Result<Connector> {
    let whole = json!({ "routingKey": "backend", "host": to.ip().to_string(), "port": to.port() });
    place
        .make(name, json!({ "spec": merged(whole, spec) }))
        .await
}

fn merged(mut whole: Value, spec: Value) -> Value {
    for (key, value) in spec.as_object().into_iter().flatten() {
        whole[key] = value.clone();
        if value.is_null() {
            whole.as_object_mut().map(|all| all.remove(key));
        }
    }
    whole
}

/// Server that sends its name and then echoes.
pub(crate) struct Echo {
    pub(crate) at: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Echo {
    pub(crate) async fn start(name: &'static str) -> Result<Self> {
        Self::start_at(name, SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    pub(crate) async fn start_at(name: &'static str, at: SocketAddr) -> Result<Self> {
        let socket = TcpListener::bind(at).await?;
        let at = socket.local_addr()?;
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = socket.accept().await {
                tokio::spawn(async move {
                    let (mut read, mut write) = stream.split();
                    write.write_all(name.as_bytes()).await?;
                    tokio::io::copy(&mut read, &mut write).await?;
                    write.shutdown().await
                });
            }
        });
        Ok(Self { at, task })
    }
}

/// Returns a connection through the router, greeted by a server of this name, which has echoed
/// once.
pub(crate) async fn greeted(place: &TestNamespace, port: u16, name: &str) -> Result<TcpStream> {
    let mut stream = TcpStream::connect((place.address, port)).await?;
    let mut greeting = vec![0; name.len()];
    timeout(SOON, stream.read_exact(&mut greeting)).await??;
    let said = String::from_utf8(greeting)?;
    if said != name {
        bail!("{said} answered instead of {name}");
    }
    echoes(&mut stream, 1000).await?;
    Ok(stream)
}

/// As `greeted`, once that works.
pub(crate) async fn soon_greeted(
    place: &TestNamespace,
    port: u16,
    name: &str,
) -> Result<TcpStream> {
    let mut deadline = Deadline::new(SOON);
    loop {
        match greeted(place, port, name).await {
            Ok(stream) => return Ok(stream),
            Err(error) if deadline.is_over() => {
                return Err(error).context("no connection through the router");
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

/// Waits until the router refuses connections at a port.
pub(crate) async fn refused(place: &TestNamespace, port: u16) -> Result<()> {
    let mut deadline = Deadline::new(SOON);
    while TcpStream::connect((place.address, port)).await.is_ok() {
        if deadline.is_over() {
            bail!("port {port} is still open");
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// Waits until the controller has settled in a namespace, and then writes nothing there for this
/// core time.
pub(crate) async fn writes_nothing(place: &TestNamespace, time: Duration) -> Result<()> {
    let before = place.wait_until_idle().await?;
    ensure!(!before.is_empty(), "what it writes is not seen");
    let mut rest = Deadline::new(time);
    while !rest.is_over() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let after = place.writes().await?;
    let lines: Vec<_> = after[before.len()..].iter().map(Entry::line).collect();
    ensure!(lines.is_empty(), "{lines:?}");
    Ok(())
}

/// Sends this many random bytes and reads the same back.
pub(crate) async fn echoes(stream: &mut TcpStream, count: usize) -> Result<()> {
    let mut bytes = vec![0; count];
    let random = SystemRandom::new().fill(&mut bytes);
    random.map_err(|_| anyhow!("the system has no random numbers"))?;
    stream.write_all(&bytes).await?;
    let mut back = vec![0; count];
    timeout(SOON, stream.read_exact(&mut back)).await??;
    if back != bytes {
        bail!("other bytes came back");
    }
    Ok(())
}
