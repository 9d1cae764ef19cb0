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
    /// The grant does not exist, or has expired.
    Unknown,
    /// It was redeemed as often as it may be.
    Used,
    /// The record of its redemptions is lost.
    Forgotten,
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
    /// The reason for the log of the site that grants; it shows no code.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::Method => "the request is no POST".to_owned(),
            Self::Unknown => "there is no such grant, or it has expired".to_owned(),
            Self::Used => "the grant was redeemed as often as it may be".to_owned(),
            Self::Forgotten => {
                "the record of its redemptions is lost: delete the AccessGrant, and create it again"
                    .to_owned()
            }
            Self::Code => "the code is not that of the grant".to_owned(),
            Self::Request(why) => format!("the request cannot be used: {why}"),
            Self::Unread(why) => format!("the code cannot be read: {why}"),
            Self::Unavailable(why) => format!("nothing can be given now: {why}"),
        }
    }

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
            Self::Forgotten => (
                StatusCode::NOT_FOUND,
                "No such access granted: the record of its redemptions is lost; delete the AccessGrant, and create it again".to_owned(),
            ),
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
        Self::Unavailable("The API server cannot be queried now: try again".to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_a_line_without_a_code() {
        let all = [
            Refusal::Method,
            Refusal::Unknown,
            Refusal::Used,
            Refusal::Forgotten,
            Refusal::Code,
            Refusal::Request("a header is no text"),
            Refusal::Unread(Unread::Broken),
            Refusal::Unavailable("No active site in namespace".to_owned()),
        ];
        let reasons: std::collections::BTreeSet<_> = all.iter().map(Refusal::reason).collect();
        assert_eq!(reasons.len(), all.len());
        assert!(reasons.iter().all(|reason| reason.lines().count() == 1));
    }
}
