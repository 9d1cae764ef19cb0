//! Connection of the driver to the API server. Its writes are recorded, refused or lost here.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Method, Request, Response};
use lifecycle_simulator::server::{Content, Reply, Server, User};
use serde_json::{Value, json};
use tokio::time::sleep;
use tower::Service;

use super::log::{CallEvent, Fault, Watched, WriteOutcome};
use super::objects::place_of;

/// How long a read and a write take to arrive.
const READ_AFTER: Duration = Duration::from_millis(2);
const WRITE_AFTER: Duration = Duration::from_millis(5);

/// The way of one process to its server.
#[derive(Clone, Debug)]
pub(crate) struct CallLine {
    pub(crate) watched: Watched,
    pub(crate) server: Server,
    /// Effects that write each kind. A deletion does not name its effect.
    pub(crate) deletes: Vec<Option<String>>,
    /// True if no watch delivers events.
    pub(crate) deaf: bool,
}

type Answer = Pin<Box<dyn Future<Output = Result<Response<Content>, kube::Error>> + Send>>;

impl Service<Request<kube::client::Body>> for CallLine {
    type Response = Response<Content>;
    type Error = kube::Error;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<kube::client::Body>) -> Self::Future {
        let line = self.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let body = body.collect_bytes().await?.to_vec();
            let request = Request::from_parts(head, body);
            if *request.method() == Method::GET {
                return Ok(line.read(&request).await.into());
            }
            Ok(line.write(&request).await.into())
        })
    }
}

impl CallLine {
    fn serve(&self, request: &Request<Vec<u8>>) -> Reply {
        self.server.serve(&User::admin(), request)
    }

    async fn read(&self, request: &Request<Vec<u8>>) -> Reply {
        sleep(READ_AFTER).await;
        let query = request.uri().query().unwrap_or_default();
        let watches = query.contains("watch=true");
        if !watches && self.watched.log.fault().is_some() {
            self.watched.log.record(CallEvent::Blind);
            return unavailable();
        }
        if watches && self.deaf {
            return silence();
        }
        self.serve(request)
    }

    async fn write(&self, request: &Request<Vec<u8>>) -> Reply {
        sleep(WRITE_AFTER).await;
        let body: Value = serde_json::from_slice(request.body()).unwrap_or_default();
        let place = place_of(request.uri().path());
        let effect = match (request.method(), place) {
            (&Method::DELETE, Some((kind, _))) => self.deletes[kind].clone(),
            _ => body
                .pointer("/spec/built/by")
                .and_then(Value::as_str)
                .map(str::to_owned),
        };
        let effect = effect.unwrap_or_else(|| "?".to_owned());
        let before = self.watched.scene.now();
        let fault = self.watched.log.fault();
        if fault == Some(Fault::Lost) {
            self.watched.ran(&effect, before, WriteOutcome::Failed);
            return unavailable();
        }
        if self.is_refused(request, &body) {
            self.watched.ran(&effect, before, WriteOutcome::Refused);
            return refusal();
        }
        let reply = self.serve(request);
        let how = match reply.status {
            _ if fault.is_some() => WriteOutcome::Failed,
            200..300 => WriteOutcome::Done,
            404 | 409 => WriteOutcome::Conflict,
            422 if reply_contains(&reply, "metadata.uid") => WriteOutcome::Conflict,
            _ => WriteOutcome::Refused,
        };
        self.watched.ran(&effect, before, how);
        if fault.is_some() {
            unavailable()
        } else {
            reply
        }
    }

    /// Returns true if a policy refuses an apply. The policy is evaluated only if the apply is
    /// about the existing object.
    fn is_refused(&self, request: &Request<Vec<u8>>, body: &Value) -> bool {
        let Some((kind, name)) = place_of(request.uri().path()) else {
            return false;
        };
        let wanted = self.watched.log.plan().refused.contains(&kind);
        if !wanted || *request.method() != Method::PATCH {
            return false;
        }
        let creates = body.pointer("/metadata/uid").is_none_or(Value::is_null);
        let name = name.split('?').next().unwrap_or_default();
        let live = self.watched.scene.objects.get(kind, name);
        match live {
            None => creates,
            Some(live) => live.pointer("/metadata/uid") == body.pointer("/metadata/uid"),
        }
    }
}

fn reply_contains(reply: &Reply, word: &str) -> bool {
    match &reply.content {
        Content::Whole(bytes) => String::from_utf8_lossy(bytes).contains(word),
        Content::Watch(_) => false,
    }
}

fn status(code: u16, reason: &str, message: &str) -> Reply {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code,
        "message": message, "metadata": {},
    });
    Reply {
        status: code,
        headers: vec![("content-type", "application/json".to_owned())],
        content: Content::Whole(status.to_string().into_bytes().into()),
    }
}

fn refusal() -> Reply {
    status(422, "Invalid", "it is refused")
}

fn unavailable() -> Reply {
    status(
        503,
        "ServiceUnavailable",
        "the server is currently unable to handle the request",
    )
}

fn silence() -> Reply {
    Reply {
        status: 200,
        headers: vec![("content-type", "application/json".to_owned())],
        content: Content::Watch(Box::pin(futures::stream::pending())),
    }
}
