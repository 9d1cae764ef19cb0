//! How many requests the clients of this process sent to API servers, and how they were answered. Knows no client.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use http::{Method, Request, Response, StatusCode};
use tower::{Layer, Service};

/// Requests by verb (a method in lower case, or `watch`) and by the status of the answer; `None`: there was none.
pub type Requests = BTreeMap<(&'static str, Option<u16>), u64>;

/// Of the whole process: clients are built in many places, and all of them burden the same server.
static SENT: Mutex<Requests> = Mutex::new(Requests::new());

/// All requests since the process began.
pub fn sent() -> Requests {
    all().clone()
}

fn all() -> MutexGuard<'static, Requests> {
    SENT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn count(verb: &'static str, code: Option<StatusCode>) {
    let key = (verb, code.map(|code| code.as_u16()));
    *all().entry(key).or_default() += 1;
}

/// Layer that counts requests.
pub(crate) struct Counting;

impl<S> Layer<S> for Counting {
    type Service = Counted<S>;

    fn layer(&self, inner: S) -> Counted<S> {
        Counted(inner)
    }
}

/// Service whose requests are counted.
pub(crate) struct Counted<S>(S);

impl<S, A, B> Service<Request<A>> for Counted<S>
where
    S: Service<Request<A>, Response = Response<B>>,
    S::Future: Send + 'static,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<B>, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        let verb = verb(request.method(), request.uri().query());
        let answered = self.0.call(request);
        Box::pin(async move {
            let answer = answered.await;
            count(verb, answer.as_ref().ok().map(Response::status));
            answer
        })
    }
}

/// The verb of a request: no more words than there are methods.
fn verb(method: &Method, query: Option<&str>) -> &'static str {
    let is_watch = |part: &str| part == "watch=true" || part == "watch=1";
    let is_watch = query.is_some_and(|query| query.split('&').any(is_watch));
    match method.as_str() {
        "GET" if is_watch => "watch",
        "GET" => "get",
        "POST" => "post",
        "PUT" => "put",
        "PATCH" => "patch",
        "DELETE" => "delete",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use tower::ServiceExt as _;

    use super::*;

    #[test]
    fn a_watch_is_no_get() {
        let query = Some("limit=1&watch=true&resourceVersion=7");
        assert_eq!(verb(&Method::GET, query), "watch");
        assert_eq!(verb(&Method::GET, Some("watch=false")), "get");
        assert_eq!(verb(&Method::PATCH, Some("watch=true")), "patch");
        assert_eq!(verb(&Method::OPTIONS, None), "other");
    }

    /// No other test of this process puts something.
    #[tokio::test]
    async fn an_answer_is_counted_by_its_code_and_none_as_none() {
        let answer = |code: u16| {
            tower::service_fn(move |_: Request<()>| async move {
                let code = StatusCode::from_u16(code).map_err(|_| "no answer")?;
                let mut response = Response::new(());
                *response.status_mut() = code;
                Ok::<_, &str>(response)
            })
        };
        // No status is below 100.
        for code in [200, 409, 409, 7] {
            let request = Request::put("/api/v1/namespaces/a").body(()).unwrap();
            let _answer = Counting.layer(answer(code)).oneshot(request).await;
        }
        let sent = sent();
        let of = |code| sent.get(&("put", code)).copied();
        assert_eq!(
            (of(Some(200)), of(Some(409)), of(None)),
            (Some(1), Some(2), Some(1))
        );
    }
}
