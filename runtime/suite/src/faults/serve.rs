//! One request on its way through the line: counted, disturbed, answered, logged.

use std::future::pending;
use std::io;

use http::{Method, Request, Response, StatusCode};
use kube::Client;
use kube::client::Body;
use serde_json::json;
use tokio::time::Instant;
use tower::BoxError;

use super::FaultKind;
use super::body::{Reply, WatchReply};
use super::line::Line;
use super::state::{Class, Watch};

/// Properties of a request that faults depend on.
pub(super) struct About {
    pub(super) class: Class,
    /// The last kind in its path.
    pub(super) kind: String,
    pub(super) is_watch: bool,
    what: String,
}

impl About {
    fn for_request(method: &Method, path: &str, query: &str) -> Self {
        let kind = kind_of(path).to_owned();
        let class = match (kind.as_str(), method == Method::GET) {
            ("leases", _) => Class::Lease,
            ("events", false) => Class::Event,
            (_, false) => Class::Write,
            (_, true) => Class::Read,
        };
        let is_watch = query
            .split('&')
            .any(|part| part == "watch=true" || part == "watch=1");
        Self {
            class,
            kind,
            is_watch,
            what: format!("{method} {path}"),
        }
    }
}

/// `services` of `/api/v1/namespaces/ns/services/s/status`.
fn kind_of(path: &str) -> &str {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let rest = match parts.as_slice() {
        ["api", _, rest @ ..] | ["apis", _, _, rest @ ..] => rest,
        rest => rest,
    };
    match rest {
        ["namespaces", _, kind, ..] if *kind != "status" && *kind != "finalize" => kind,
        [kind, ..] => kind,
        [] => "",
    }
}

impl Line {
    pub(super) async fn serve(
        self,
        request: Request<Body>,
        server: Client,
    ) -> Result<Response<Reply>, BoxError> {
        let (parts, body) = request.into_parts();
        let body = body.collect_bytes().await?;
        let query = parts.uri.query().unwrap_or_default();
        let about = About::for_request(&parts.method, parts.uri.path(), query);
        if self.is_dead() {
            return pending().await;
        }
        let number = self.next_number();
        let sent = String::from_utf8_lossy(&body);
        self.record(number, &format!("{} {} {sent}", parts.method, parts.uri));
        let fault = self.begin(&about.what, about.class, &about.kind);
        if self.is_cut() {
            return Err(self.broken(number));
        }
        if let Some(answer) = self.before(number, fault.as_ref()).await {
            return answer;
        }
        let request = Request::from_parts(parts, Body::from(body));
        let answer = match server.send(request).await {
            Ok(answer) => answer,
            Err(error) => {
                self.record(number, &format!("-> {error}"));
                return Err(error.into());
            }
        };
        if self.is_dead() {
            return pending().await;
        }
        if about.is_watch && answer.status() == StatusCode::OK {
            self.record(number, "-> watches");
            return Ok(answer.map(|body| self.watch(number, about.kind, body)));
        }
        let (head, body) = answer.into_parts();
        let body = body.collect_bytes().await?;
        let said = String::from_utf8_lossy(&body);
        self.record(number, &format!("-> {} {said}", head.status.as_u16()));
        match fault {
            Some(FaultKind::CrashAfter) => {
                self.crash();
                pending().await
            }
            Some(FaultKind::Lost) => Err(self.broken(number)),
            Some(FaultKind::Silent) => pending().await,
            _ => Ok(Response::from_parts(head, Reply::full(body))),
        }
    }

    pub(super) fn next_number(&self) -> u64 {
        let mut state = self.faults.state();
        state.numbers += 1;
        state.numbers
    }

    /// Counts the request, does the faults around it, and returns the one that is about it.
    pub(super) fn begin(&self, what: &str, class: Class, kind: &str) -> Option<FaultKind> {
        if !self.disturbed {
            return None;
        }
        let now = Instant::now();
        let mut state = self.faults.state();
        let due = state.count(class, what);
        let (mine, around): (Vec<_>, Vec<_>) =
            due.into_iter().partition(FaultKind::is_about_the_request);
        for what in &around {
            state.disturb(what, kind, now);
        }
        mine.into_iter().next()
    }

    pub(super) fn is_cut(&self) -> bool {
        let until = self.faults.state().cut_until;
        self.disturbed && until.is_some_and(|until| until > Instant::now())
    }

    pub(super) fn broken(&self, number: u64) -> BoxError {
        self.record(number, "-> the connection breaks");
        let error = "the connection was broken by a fault";
        io::Error::new(io::ErrorKind::ConnectionReset, error).into()
    }

    /// Returns the result of a request that does not get through.
    async fn before(
        &self,
        number: u64,
        fault: Option<&FaultKind>,
    ) -> Option<Result<Response<Reply>, BoxError>> {
        match fault {
            Some(FaultKind::CrashBefore) => {
                self.crash();
                pending().await
            }
            Some(FaultKind::Timeout) => {
                self.record(number, "-> never answers");
                pending().await
            }
            Some(FaultKind::Answer(code)) => {
                let body = failure(*code);
                self.record(number, &format!("-> {code} {body}"));
                let answer = Response::builder()
                    .status(*code)
                    .header("content-type", "application/json")
                    .body(Reply::full(body.into_bytes().into()));
                Some(answer.map_err(Into::into))
            }
            Some(_) | None => None,
        }
    }

    fn watch(&self, number: u64, kind: String, body: Body) -> Reply {
        let watch = Watch {
            kind: kind.clone(),
            ending: None,
            waker: None,
        };
        if self.disturbed {
            self.faults.state().watches.insert(number, watch);
        }
        Reply::watch(WatchReply::new(self.clone(), number, kind, body))
    }
}

/// A failure as an API server words it.
fn failure(code: u16) -> String {
    let (reason, message) = match code {
        409 => (
            "Conflict",
            "Operation cannot be fulfilled: the object has been modified; please apply your changes to the latest version and try again",
        ),
        422 => ("Invalid", "it is invalid: an injected fault rejects it"),
        429 => (
            "TooManyRequests",
            "the server has received too many requests and has asked us to try again later",
        ),
        500 => ("InternalError", "Internal error occurred: a fault"),
        503 => (
            "ServiceUnavailable",
            "the server is currently unable to handle the request",
        ),
        504 => (
            "Timeout",
            "Timeout: request did not complete within the allotted timeout",
        ),
        _ => ("", "a fault"),
    };
    let retry = u32::from(code == 429);
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": code,
        "reason": reason, "message": message, "details": { "retryAfterSeconds": retry },
    })
    .to_string()
}
