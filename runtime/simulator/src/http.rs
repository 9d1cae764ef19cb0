//! Simulated API server over HTTP. It parses requests and assembles answers, and decides nothing
//! about them. Its door decides about access.

mod door;

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::{HeaderMap, Request, Response};
use lifecycle_http::{Limits, Unread};
use tokio::net::TcpListener;

pub use door::AccessOptions;

use crate::server::{Content, Recorded, Reply};
use crate::{Server, User};

/// As much as a real API server reads, and as many connections as the watches of a few programs need.
const LIMITS: Limits = Limits {
    connections: 512,
    waits: 0,
    head: 64 * 1024,
    body: 3 * 1024 * 1024,
    patience: Duration::from_secs(30),
};

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Callback for each request before its reply is sent. It delays the reply. Sequential requests are
/// recorded in order, concurrent ones in any order.
pub type Recorder = Arc<dyn Fn(&Recorded) + Send + Sync>;

/// Answers until `stop` is done; watches end with it.
///
/// # Errors
/// The socket has no address.
pub async fn serve(
    listener: TcpListener,
    server: Server,
    door: AccessOptions,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    serve_recorded(listener, (server, door), None, stop).await
}

/// Serves like `serve`, and records each admitted request at this door.
///
/// # Errors
/// As `serve`.
pub async fn serve_recorded(
    listener: TcpListener,
    (server, door): (Server, AccessOptions),
    recorder: Option<Recorder>,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let at = listener.local_addr()?;
    let secure = door.secure();
    let door = Arc::new(door);
    let answer = move |request: Request<Incoming>, _| {
        let (server, door, recorder) = (server.clone(), door.clone(), recorder.clone());
        async move { answer(&server, (&door, at), recorder.as_ref(), request).await }
    };
    let limited = lifecycle_http::Server::new(LIMITS);
    tokio::select! {
        biased;
        () = stop => Ok(()),
        never = limited.serve(listener, secure, answer) => match never {},
    }
}

async fn answer(
    server: &Server,
    (door, at): (&AccessOptions, SocketAddr),
    recorder: Option<&Recorder>,
    request: Request<Incoming>,
) -> Response<Body> {
    let (head, body) = request.into_parts();
    if let Err(refused) = door.admit(at, &head.headers) {
        return refusal(refused.code(), refused.reason(), &refused.to_string());
    }
    let body = match LIMITS.read(body).await {
        Ok(body) => body,
        Err(Unread::Large(limit)) => {
            let said = format!("Request entity too large: limit is {limit}");
            return refusal(413, "RequestEntityTooLarge", &said);
        }
        Err(why @ (Unread::Late(_) | Unread::Broken)) => {
            let said = format!("the body of the request cannot be read: {why}");
            return refusal(400, "BadRequest", &said);
        }
    };
    let user = user(&head.headers);
    let request = Request::from_parts(head, body.to_vec());
    let reply = server.serve(&user, &request);
    if let Some(recorder) = recorder {
        recorder(&Recorded::from_request(&user, &request, reply.status));
    }
    response(reply)
}

/// Everybody who is let in is an administrator, and may impersonate another user.
fn user(headers: &HeaderMap) -> User {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(name) = text("impersonate-user") else {
        return User::admin();
    };
    let named = headers
        .get_all("impersonate-group")
        .iter()
        .filter_map(|group| group.to_str().ok());
    let mut groups: Vec<&str> = named.collect();
    let accounts;
    if let Some(account) = name.strip_prefix("system:serviceaccount:")
        && groups.is_empty()
    {
        let namespace = account.split(':').next().unwrap_or_default();
        accounts = format!("system:serviceaccounts:{namespace}");
        groups.extend(["system:serviceaccounts", &accounts]);
    }
    groups.push("system:authenticated");
    User::new(name, &groups)
}

fn response(reply: Reply) -> Response<Body> {
    let mut response = Response::builder().status(reply.status);
    for (name, value) in reply.headers {
        response = response.header(name, value);
    }
    let body = match reply.content {
        Content::Whole(bytes) => Full::new(bytes).boxed_unsync(),
        Content::Watch(chunks) => {
            StreamBody::new(chunks.map(|chunk| Ok(Frame::data(chunk)))).boxed_unsync()
        }
    };
    response
        .body(body)
        .unwrap_or_else(|_| refusal(500, "InternalError", "the answer has no form"))
}

fn refusal(code: u16, reason: &str, message: &str) -> Response<Body> {
    let status = serde_json::json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code,
    });
    let mut response = Response::new(Full::from(status.to_string()).boxed_unsync());
    *response.status_mut() = hyper::StatusCode::from_u16(code).unwrap_or_default();
    let json = hyper::header::HeaderValue::from_static("application/json");
    response
        .headers_mut()
        .insert(hyper::header::CONTENT_TYPE, json);
    response
}
