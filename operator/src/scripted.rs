//! A client whose API server is one function, for tests of what is asked and written.

use std::sync::{Arc, Mutex};

use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use serde_json::Value;

/// What was asked: method and path with query, and the body if it was JSON.
pub(crate) type Asked = Arc<Mutex<Vec<(String, Value)>>>;

/// A client that is answered by `answer`: line such as `GET /path?query` and body to code and body.
pub(crate) fn client(
    answer: impl Fn(&str, &Value) -> (u16, Value) + Send + Sync + 'static,
) -> (Client, Asked) {
    let asked = Asked::default();
    let (log, answer) = (asked.clone(), Arc::new(answer));
    let service = tower::service_fn(move |request: Request<Body>| {
        let (log, answer) = (log.clone(), answer.clone());
        async move {
            let line = format!("{} {}", request.method(), request.uri());
            let body = request.into_body().collect_bytes().await?;
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            let (code, reply) = answer(&line, &body);
            log.lock().unwrap().push((line, body));
            let reply = Body::from(reply.to_string().into_bytes());
            let response = Response::builder().status(code).body(reply);
            Ok::<_, kube::Error>(response.unwrap())
        }
    });
    (Client::new(service, "default"), asked)
}

/// The lines of what was asked.
pub(crate) fn lines(asked: &Asked) -> Vec<String> {
    let asked = asked.lock().unwrap();
    asked.iter().map(|(line, _)| line.clone()).collect()
}

/// A failure as an API server words it.
pub(crate) fn failure(code: u16, reason: &str, message: &str) -> (u16, Value) {
    let body = serde_json::json!({
        "apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message,
    });
    (code, body)
}
