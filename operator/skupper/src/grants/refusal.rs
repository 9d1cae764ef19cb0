//! Why the grant server gives nothing, as it answers that.

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::Full;
use lifecycle_http::Unread;
use lifecycle_runtime::cause;

/// Why nothing is given.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It is no POST.
    Method,
    /// There is no such grant, or it is over.
    Unknown,
    /// It was redeemed as often as it may be.
    Used,
    /// The code is another.
    Code,
    /// The request makes no sense.
    Request(&'static str),
    /// Its body cannot be read.
    Unread(Unread),
    /// Nothing can be given now.
    Unavailable(String),
}

impl Refusal {
    /// As it is answered.
    pub(super) fn response(&self) -> Response<Full<Bytes>> {
        let unavailable = StatusCode::SERVICE_UNAVAILABLE;
        let (status, text) = match self {
            Self::Method => (
                StatusCode::METHOD_NOT_ALLOWED,
                "Only POST is supported".to_owned(),
            ),
            Self::Unknown => (StatusCode::NOT_FOUND, "No such claim".to_owned()),
            Self::Used => (StatusCode::NOT_FOUND, "No such access granted".to_owned()),
            Self::Code => (
                StatusCode::FORBIDDEN,
                "Redemption of access token refused".to_owned(),
            ),
            Self::Request(why) => (StatusCode::BAD_REQUEST, (*why).to_owned()),
            Self::Unread(Unread::Large(_)) => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "The code is too long".to_owned(),
            ),
            Self::Unread(Unread::Late(_)) => (
                StatusCode::REQUEST_TIMEOUT,
                "The code did not come in time".to_owned(),
            ),
            Self::Unread(Unread::Broken) => {
                (StatusCode::BAD_REQUEST, "Request body not valid".to_owned())
            }
            Self::Unavailable(why) => (unavailable, why.clone()),
        };
        let mut response = respond(status, "text/plain; charset=utf-8", format!("{text}\n"));
        if status == StatusCode::METHOD_NOT_ALLOWED {
            response
                .headers_mut()
                .insert(ALLOW, HeaderValue::from_static("POST"));
        }
        response
    }
}

impl From<kube::Error> for Refusal {
    fn from(error: kube::Error) -> Self {
        tracing::warn!("a grant cannot be redeemed: {}", cause::in_one_line(&error));
        Self::Unavailable("The API server cannot be asked now: try again".to_owned())
    }
}

/// An answer of a kind.
pub(super) fn respond(
    status: StatusCode,
    kind: &'static str,
    text: String,
) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
