//! The router's own HTTP: `GET /v1/state?after=REV&wait=10s`, `/metrics` and `/healthz`. Bounded in connections, header bytes and
//! time, for any client may reach it.

mod permits;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::router::Router;
use permits::{ConnectionLimit, ConnectionPermit};

/// Connections at once.
const MOST: usize = 64;

/// The longest time that an answer is waited for.
const LONGEST: Duration = Duration::from_secs(60);

/// How long a client has for its handshake, and for the head of a request.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long after it failed a connection is accepted again.
const AGAIN: Duration = Duration::from_millis(50);

/// The largest head of a request.
const HEAD: usize = 16 * 1024;

/// What is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Everything.
    All,
    /// `/metrics` and `/healthz` only.
    Metrics,
}

/// The two ways of a connection.
trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Duplex for S {}

/// The HTTP interface of a router.
#[derive(Clone)]
pub struct Api {
    router: Router,
    offer: Offer,
    limit: Arc<ConnectionLimit>,
    /// Whether it was logged already that no client can be let in.
    is_logged: Arc<AtomicBool>,
}

impl Api {
    /// Of this router.
    pub fn new(router: Router, offer: Offer) -> Self {
        let limit = ConnectionLimit::new(MOST);
        Self {
            router,
            offer,
            limit,
            is_logged: Arc::default(),
        }
    }

    /// Serves on a socket in the clear, without end.
    pub async fn serve(self, socket: TcpListener) {
        loop {
            if let Some((stream, permit)) = self.next(socket.accept().await).await {
                let api = self.clone();
                tokio::spawn(async move { api.converse(Box::new(stream), &permit).await });
            }
        }
    }

    /// Serves on a Unix socket, without end.
    pub async fn serve_unix(self, socket: UnixListener) {
        loop {
            if let Some((stream, permit)) = self.next(socket.accept().await).await {
                let api = self.clone();
                tokio::spawn(async move { api.converse(Box::new(stream), &permit).await });
            }
        }
    }

    /// Serves to clients with a certificate of a profile's authority, without end. Before the profile has good files no
    /// client is let in; its renewals count from the next connection on.
    pub async fn serve_tls(self, socket: TcpListener, profile: String) {
        loop {
            if let Some((stream, permit)) = self.next(socket.accept().await).await {
                let (api, profile) = (self.clone(), profile.clone());
                tokio::spawn(async move {
                    let accepted = tokio::select! {
                        () = permit.lost() => None,
                        accepted = api.accept(stream, &profile) => accepted,
                    };
                    if let Some(stream) = accepted {
                        api.converse(Box::new(stream), &permit).await;
                    }
                });
            }
        }
    }

    async fn accept(&self, stream: TcpStream, profile: &str) -> Option<TlsStream<TcpStream>> {
        let slot = self.router.profile(profile).await;
        let credentials = slot.and_then(|slot| slot.now());
        let Some(config) = credentials.and_then(|credentials| credentials.server(true)) else {
            if !self.is_logged.swap(true, Ordering::Relaxed) {
                tracing::warn!("sslProfile `{profile}` cannot serve the state yet");
            }
            return None;
        };
        self.is_logged.store(false, Ordering::Relaxed);
        let accepting = TlsAcceptor::from(config).accept(stream);
        let accepted = timeout(PATIENCE, accepting).await.ok()?;
        accepted
            .inspect_err(|error| tracing::debug!(%error, "a TLS handshake failed"))
            .ok()
    }

    /// A connection and its permit; absent if there is none.
    async fn next<S, A>(&self, accepted: io::Result<(S, A)>) -> Option<(S, ConnectionPermit)> {
        match accepted {
            Ok((stream, _)) => Some((stream, self.limit.admit()?)),
            Err(error) => {
                // With all files in use the next try would fail as soon.
                tracing::debug!(%error, "cannot accept");
                sleep(AGAIN).await;
                None
            }
        }
    }

    /// Answers the requests of a connection, whatever it is made of: HTTP is the same for all, and its code is there once.
    async fn converse(&self, stream: Box<dyn Duplex>, permit: &ConnectionPermit) {
        let answer = service_fn(|request: Request<Incoming>| async move {
            let _answered = permit.answer();
            Ok::<_, Infallible>(self.answer(&request).await)
        });
        let conversation = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(PATIENCE)
            .max_buf_size(HEAD)
            .serve_connection(TokioIo::new(stream), answer);
        tokio::select! {
            () = permit.lost() => tracing::debug!("a connection made room for another one"),
            ended = conversation => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a request was cut short");
                }
            }
        }
    }

    /// Answers one request.
    pub async fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        let path = request.uri().path();
        let known = match path {
            "/metrics" | "/healthz" => true,
            "/v1/state" => self.offer == Offer::All,
            _ => false,
        };
        if !known {
            return text(StatusCode::NOT_FOUND, "there is nothing here\n".to_owned());
        }
        if request.method() != Method::GET {
            return text(StatusCode::METHOD_NOT_ALLOWED, "only GET\n".to_owned());
        }
        match path {
            "/metrics" => text(StatusCode::OK, self.router.metrics()),
            "/healthz" => self.health(),
            _ => self.state(request.uri().query().unwrap_or_default()).await,
        }
    }

    fn health(&self) -> Response<Full<Bytes>> {
        if self.router.state().now().configuration.is_some() {
            text(StatusCode::OK, "ok\n".to_owned())
        } else {
            let why = "no configuration yet\n".to_owned();
            text(StatusCode::SERVICE_UNAVAILABLE, why)
        }
    }

    async fn state(&self, query: &str) -> Response<Full<Bytes>> {
        let question = match question(query) {
            Ok(question) => question,
            Err(why) => return text(StatusCode::BAD_REQUEST, format!("{why}\n")),
        };
        let store = self.router.state();
        let state = match question {
            (Some(after), wait) => store.after(&after, wait).await,
            (None, _) => store.now(),
        };
        let json = serde_json::to_vec(&state).expect("the state can be written as JSON");
        respond(StatusCode::OK, "application/json", json.into())
    }
}

/// After which revision, and how long to wait for another one.
fn question(query: &str) -> Result<(Option<String>, Duration), String> {
    let (mut after, mut wait) = (None, Duration::ZERO);
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        match &*name {
            "after" => after = Some(value.into_owned()),
            "wait" => {
                let seconds = value.strip_suffix('s').unwrap_or(&value);
                let seconds: u64 = seconds
                    .parse()
                    .map_err(|_| format!("wait `{value}` is no number of seconds such as 10s"))?;
                wait = Duration::from_secs(seconds).min(LONGEST);
            }
            _ => return Err(format!("there is no parameter `{name}`")),
        }
    }
    Ok((after, wait))
}

fn text(status: StatusCode, text: String) -> Response<Full<Bytes>> {
    respond(status, "text/plain; charset=utf-8", text.into())
}

fn respond(status: StatusCode, kind: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let kind = http::HeaderValue::from_static(kind);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// A Unix socket that only its owner can use, in the place of one that was left over.
///
/// # Errors
/// The socket cannot be made, or something else has its path.
pub fn bind_unix(path: &Path) -> io::Result<UnixListener> {
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
    match std::fs::symlink_metadata(path) {
        Ok(there) if there.file_type().is_socket() => std::fs::remove_file(path)?,
        Ok(_) => return Err(io::Error::other("there is something else than a socket")),
        Err(_absent) => {}
    }
    let socket = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(socket)
}

/// A TCP socket for the API.
///
/// # Errors
/// The address is not available.
pub async fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let bound = TcpListener::bind(address).await;
    if bound.is_err() {
        // The process that had it before may be about to end.
        sleep(Duration::from_millis(200)).await;
        return TcpListener::bind(address).await;
    }
    bound
}

#[cfg(test)]
mod tests;
