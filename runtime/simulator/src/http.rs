//! The simulated API server over HTTP on loopback. Takes requests apart and puts answers together; decides nothing about them.

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;

use futures::StreamExt;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::HOST;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::server::{Content, Reply};
use crate::{Server, User};

/// As much as a real API server reads.
const LARGEST: usize = 3 * 1024 * 1024;

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Answers until `stop` is done; watches end with it.
pub async fn serve(listener: TcpListener, server: Server, stop: impl Future<Output = ()>) {
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        tokio::select! {
            biased;
            () = &mut stop => return,
            Some(_ended) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => drop(connections.spawn(connection(stream, server.clone()))),
                // Such as too many open files: others may be closed by then.
                Err(error) => {
                    tracing::warn!("cannot accept a connection: {error}");
                    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                }
            },
        }
    }
}

async fn connection(stream: TcpStream, server: Server) {
    // Small answers must not wait for each other.
    let _slower = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let server = server.clone();
        async move { Ok::<_, Infallible>(answer(&server, request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = served.await {
        tracing::debug!("a connection ended: {error}");
    }
}

async fn answer(server: &Server, request: Request<Incoming>) -> Response<Body> {
    let (head, body) = request.into_parts();
    if !is_local(&head.headers) {
        // A page in a browser may send requests here under a name that it has made to mean this machine.
        return refusal(
            403,
            "Forbidden",
            "the sandbox answers only to 127.0.0.1 and localhost",
        );
    }
    let Ok(body) = Limited::new(body, LARGEST).collect().await else {
        let said = format!("Request entity too large: limit is {LARGEST}");
        return refusal(413, "RequestEntityTooLarge", &said);
    };
    let user = user(&head.headers);
    let request = Request::from_parts(head, body.to_bytes().to_vec());
    response(server.serve(&user, &request))
}

fn is_local(headers: &HeaderMap) -> bool {
    let host = headers
        .get(HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    matches!(name, "127.0.0.1" | "localhost")
}

/// Everybody is an administrator, and may impersonate another user.
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
