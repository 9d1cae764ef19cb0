//! Client whose API server is one function, for tests of requests and writes.

use std::future::{Future, ready};
use std::sync::{Arc, Mutex, PoisonError};

use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use serde_json::Value;

/// Recorded requests: method and path with query, such as `GET /api/v1/pods?limit=1`, and the body
/// if it was JSON.
pub type RequestLog = Arc<Mutex<Vec<(String, Value)>>>;

/// A client that is answered by `answer`: method, path with query, and the body if it was JSON, to code and body.
pub fn client<A>(answer: impl Fn(String, String, Value) -> A + Clone + Send + 'static) -> Client
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
    Client::new(service, "default")
}

/// Returns a client that is answered at once, and the record of its requests.
pub fn recorded(
    answer: impl Fn(&str, &Value) -> (u16, Value) + Send + Sync + 'static,
) -> (Client, RequestLog) {
    let asked = RequestLog::default();
    let (log, answer) = (asked.clone(), Arc::new(answer));
    let client = client(move |method, uri, body| {
        let line = format!("{method} {uri}");
        let reply = answer(&line, &body);
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        log.push((line, body));
        ready(reply)
    });
    (client, asked)
}

/// Returns the lines of the recorded requests.
pub fn lines(asked: &RequestLog) -> Vec<String> {
    let asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
    asked.iter().map(|(line, _)| line.clone()).collect()
}

/// A failure as an API server words it.
pub fn failure(code: u16, reason: &str, message: &str) -> (u16, Value) {
    let status = serde_json::json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message,
    });
    (code, status)
}
