//! A client whose API server is one function, for tests on paused time.

use std::future::Future;

use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use serde_json::Value;

/// A client that is answered by `answer`: method, path with query, and the body if it was JSON, to code and body.
pub(crate) fn client<A>(
    answer: impl Fn(String, String, Value) -> A + Clone + Send + 'static,
) -> Client
where
    A: Future<Output = (u16, Value)> + Send,
{
    let service = tower::service_fn(move |request: Request<Body>| {
        let answer = answer.clone();
        async move {
            let (method, uri) = (request.method().to_string(), request.uri().to_string());
            let body = request.into_body().collect_bytes().await?;
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            let (code, reply) = answer(method, uri, body).await;
            let reply = Body::from(reply.to_string().into_bytes());
            let response = Response::builder().status(code).body(reply);
            Ok::<_, kube::Error>(response.expect("a code and a body make a response"))
        }
    });
    Client::new(service, "ns")
}

/// A failure as an API server words it.
pub(crate) fn failure(code: u16, reason: &str, message: &str) -> (u16, Value) {
    let status = serde_json::json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message,
    });
    (code, status)
}
