//! The server as the `tower::Service` that `kube::Client` takes.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use tower::Service;

use super::{Content, Reply, Server, User};

/// A simulated API server as one user sees it.
#[derive(Clone, Debug)]
pub struct ServerService {
    server: Server,
    user: User,
}

impl ServerService {
    pub(super) fn new(server: Server, user: User) -> Self {
        Self { server, user }
    }
}

impl Service<Request<kube::client::Body>> for ServerService {
    type Response = Response<Content>;
    type Error = kube::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<kube::client::Body>) -> Self::Future {
        let Self { server, user } = self.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let body = body.collect_bytes().await?.to_vec();
            let reply = server.serve(&user, &Request::from_parts(head, body));
            Ok(reply.into())
        })
    }
}

impl From<Reply> for Response<Content> {
    fn from(reply: Reply) -> Self {
        let mut response = Response::builder().status(reply.status);
        for (name, value) in reply.headers {
            response = response.header(name, value);
        }
        let response = response.body(reply.content);
        response.expect("codes and headers are the server's own")
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Watch(chunks) => {
                let polled = chunks.as_mut().poll_next(context);
                polled.map(|chunk| chunk.map(|chunk| Ok(Frame::data(chunk))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_empty(),
            Self::Watch(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Watch(_) => SizeHint::default(),
        }
    }
}
