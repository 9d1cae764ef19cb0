//! Wrong runtimes as seeded bugs, between an operator and everything that observes it. They change
//! requests and events on their way.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body::Frame;
use kube::Client;
use kube::client::Body;
use lifecycle_runtime::kube::client_of;
use serde_json::Value;
use tokio::time::{Instant, Sleep, sleep_until};

pub type Answer = Result<Response<Content>, kube::Error>;
type ContentFilter = Arc<dyn Fn(&mut Value) -> bool + Send + Sync>;
type Late = Arc<dyn Fn() -> Option<Instant> + Send + Sync>;

/// Content of a response: as it came, or event by event, and perhaps late.
pub struct Content {
    body: Body,
    see: Option<ContentFilter>,
    late: Option<Late>,
    /// Frame that arrived, and is delivered when its time has come.
    kept: Option<(Pin<Box<Sleep>>, Frame<Bytes>)>,
}

impl Content {
    fn new(body: Body) -> Self {
        Self {
            body,
            see: None,
            late: None,
            kept: None,
        }
    }

    /// Returns the same content, with each part delivered no sooner than the time that this returns
    /// on its arrival.
    #[must_use]
    pub fn late(mut self, until: impl Fn() -> Option<Instant> + Send + Sync + 'static) -> Self {
        self.late = Some(Arc::new(until));
        self
    }
}

impl http_body::Body for Content {
    type Data = Bytes;
    type Error = kube::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, kube::Error>>> {
        loop {
            if let Some((until, _)) = &mut self.kept {
                ready!(until.as_mut().poll(cx));
                return Poll::Ready(self.kept.take().map(|(_, frame)| Ok(frame)));
            }
            let mut frame = match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => frame,
                other @ (Poll::Ready(_) | Poll::Pending) => return other,
            };
            if let (Some(see), Some(data)) = (&self.see, frame.data_ref()) {
                let seen = events(data, see);
                if seen.is_empty() {
                    continue;
                }
                frame = Frame::data(seen.into());
            }
            let Some(until) = self.late.as_ref().and_then(|late| late()) else {
                return Poll::Ready(Some(Ok(frame)));
            };
            self.kept = Some((Box::pin(sleep_until(until)), frame));
        }
    }
}

/// The events of some lines, changed or left out.
fn events(lines: &[u8], see: &ContentFilter) -> Vec<u8> {
    let mut seen = Vec::new();
    for line in lines
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let mut event: Value = serde_json::from_slice(line).expect("an event is one line");
        if see(&mut event) {
            seen.extend_from_slice(event.to_string().as_bytes());
            seen.push(b'\n');
        }
    }
    seen
}

pub fn full_response(response: Response<Body>) -> Response<Content> {
    response.map(Content::new)
}

/// An answer that no server gave.
pub fn made_up(code: u16, body: &Value) -> Response<Content> {
    let body = Body::from(body.to_string().into_bytes());
    let response = Response::builder().status(code).body(body);
    full_response(response.expect("a code and a body make an answer"))
}

/// The same object, as if it were older than everything.
///
/// # Errors
/// The answer cannot be read.
pub async fn versionless(response: Response<Content>) -> Answer {
    let (head, content) = response.into_parts();
    let mut bytes = content.body.collect_bytes().await?;
    if let Ok(mut object) = serde_json::from_slice::<Value>(&bytes)
        && let Some(version) = object.pointer_mut("/metadata/resourceVersion")
    {
        *version = Value::from("1");
        bytes = object.to_string().into_bytes().into();
    }
    let content = Content::new(Body::from(bytes.to_vec()));
    Ok(Response::from_parts(head, content))
}

/// A request, taken apart.
pub struct ParsedRequest {
    pub method: Method,
    pub uri: String,
    pub head: http::request::Parts,
    pub body: Value,
}

impl ParsedRequest {
    pub fn is_write(&self) -> bool {
        self.method != Method::GET && !self.is_lease()
    }

    pub fn is_lease(&self) -> bool {
        self.uri.contains("/coordination.k8s.io/")
    }

    /// An apply that creates, as the driver sends it.
    pub fn creates(&self) -> bool {
        self.body.pointer("/metadata/resourceVersion") == Some(&Value::from("1"))
    }

    pub async fn send(&self, client: &Client) -> Answer {
        let mut request = Request::builder()
            .method(self.method.clone())
            .uri(&self.uri);
        for (name, value) in &self.head.headers {
            request = request.header(name, value);
        }
        let body = if self.body.is_null() {
            Vec::new()
        } else {
            self.body.to_string().into_bytes()
        };
        let request = request.body(Body::from(body)).expect("it was a request");
        client.send(request).await.map(full_response)
    }
}

/// Answers every request in another way.
pub fn answering<F, A>(answer: F) -> impl Fn(Client) -> Client + Send + Sync + 'static
where
    F: Fn(Client, ParsedRequest) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    move |client| {
        let answer = answer.clone();
        client_of(tower::service_fn(move |request: Request<Body>| {
            let (client, answer) = (client.clone(), answer.clone());
            async move {
                let (head, body) = request.into_parts();
                let body = body.collect_bytes().await?;
                let asked = ParsedRequest {
                    method: head.method.clone(),
                    uri: head.uri.to_string(),
                    body: serde_json::from_slice(&body).unwrap_or_default(),
                    head,
                };
                answer(client, asked).await
            }
        }))
    }
}

/// Changes every request.
pub fn changing(
    change: impl Fn(&mut ParsedRequest) + Clone + Send + Sync + 'static,
) -> impl Fn(Client) -> Client + Send + Sync + 'static {
    answering(move |client, mut asked| {
        change(&mut asked);
        async move { asked.send(&client).await }
    })
}

/// Changes every event of watches, or keeps it back.
pub fn seeing(
    see: impl Fn(&mut Value) -> bool + Clone + Send + Sync + 'static,
) -> impl Fn(Client) -> Client + Send + Sync + 'static {
    watching(move || see.clone())
}

/// Changes every event of each watch by a rule of its own, or keeps it back.
pub fn watching<S>(
    see: impl Fn() -> S + Clone + Send + Sync + 'static,
) -> impl Fn(Client) -> Client + Send + Sync + 'static
where
    S: Fn(&mut Value) -> bool + Send + Sync + 'static,
{
    answering(move |client, asked| {
        let see = see();
        async move {
            let is_watch = asked.uri.contains("watch=true");
            let answer = asked.send(&client).await?;
            if !is_watch {
                return Ok(answer);
            }
            let see: ContentFilter = Arc::new(see);
            Ok(answer.map(|content| Content {
                see: Some(see),
                ..content
            }))
        }
    })
}

/// Flag that records that something has happened already.
#[derive(Clone, Default)]
pub struct Once(Arc<AtomicBool>);

impl Once {
    pub fn is_first(&self) -> bool {
        !self.0.swap(true, Ordering::SeqCst)
    }

    pub fn has_been(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
