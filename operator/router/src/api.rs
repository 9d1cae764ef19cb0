//! The router's own HTTP: `GET /v1/state?after=REV&wait=10s`, `/metrics` and `/healthz`.

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
use lifecycle_http::{Limits, Secure, Server, Socket, Turn};
use rustls::ServerConfig;
use tokio::net::{TcpListener, UnixListener};
use tokio::time::sleep;

use crate::data_plane::DataPlane;

/// The longest time that an answer is waited for.
const LONGEST: Duration = Duration::from_secs(60);

/// Endpoints that the interface serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Everything.
    All,
    /// `/metrics` and `/healthz` only.
    Metrics,
}

/// The HTTP interface of a data plane.
#[derive(Clone)]
pub struct Api {
    router: Arc<dyn DataPlane>,
    offer: Offer,
    /// True if the log already reports that no client can be let in.
    is_logged: Arc<AtomicBool>,
}

impl Api {
    /// Of this data plane.
    pub fn new(router: impl DataPlane, offer: Offer) -> Self {
        Self {
            router: Arc::new(router),
            offer,
            is_logged: Arc::default(),
        }
    }

    /// Serves on a socket in the clear, without end.
    pub async fn serve(self, socket: impl Socket) -> Infallible {
        self.serve_on(socket, None).await
    }

    /// Serves to clients with a certificate of a profile's authority, without end. Before the profile has good files no
    /// client is let in; its renewals count from the next connection on.
    pub async fn serve_tls(self, socket: TcpListener, profile: String) -> Infallible {
        let api = self.clone();
        let secure: Secure = Arc::new(move || {
            let (api, profile) = (api.clone(), profile.clone());
            Box::pin(async move { api.credentials(&profile).await })
        });
        self.serve_on(socket, Some(secure)).await
    }

    async fn serve_on(self, socket: impl Socket, secure: Option<Secure>) -> Infallible {
        let answer = move |request: Request<Incoming>, turn: Arc<Turn>| {
            let api = self.clone();
            async move { api.answer(&request, Some(&turn)).await }
        };
        let server = Server::new(Limits::default());
        server.serve(socket, secure, answer).await
    }

    async fn credentials(&self, profile: &str) -> Option<Arc<ServerConfig>> {
        let slot = self.router.profile(profile).await;
        let credentials = slot.and_then(|slot| slot.now());
        let config = credentials.and_then(|credentials| credentials.server(true));
        let was_logged = self.is_logged.swap(config.is_none(), Ordering::Relaxed);
        if config.is_none() && !was_logged {
            tracing::warn!("sslProfile `{profile}` cannot serve the state yet");
        }
        config
    }

    /// Answers one request. With its turn an answer that waits can be given sooner, so that others may wait, too.
    pub async fn answer<B>(
        &self,
        request: &Request<B>,
        turn: Option<&Turn>,
    ) -> Response<Full<Bytes>> {
        let path = request.uri().path();
        let known = match path {
            "/metrics" | "/healthz" => true,
            "/v1/state" => self.offer == Offer::All,
            _ => false,
        };
        if !known {
            return text(StatusCode::NOT_FOUND, "not found\n".to_owned());
        }
        if request.method() != Method::GET {
            return text(StatusCode::METHOD_NOT_ALLOWED, "only GET\n".to_owned());
        }
        match path {
            "/metrics" => text(StatusCode::OK, self.router.metrics()),
            "/healthz" => self.health(),
            _ => {
                let query = request.uri().query().unwrap_or_default();
                self.state(query, turn).await
            }
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

    async fn state(&self, query: &str, turn: Option<&Turn>) -> Response<Full<Bytes>> {
        let question = match question(query) {
            Ok(question) => question,
            Err(why) => return text(StatusCode::BAD_REQUEST, format!("{why}\n")),
        };
        let store = self.router.state();
        let state = match question {
            (Some(after), wait) => {
                let changed = store.after(&after, wait);
                match turn {
                    Some(turn) => turn.wait(changed).await.unwrap_or_else(|| store.now()),
                    None => changed.await,
                }
            }
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
            _ => return Err(format!("unknown parameter `{name}`")),
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
        Ok(_) => return Err(io::Error::other("the path exists and is not a socket")),
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
