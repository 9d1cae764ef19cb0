//! Meaning of an answer of the API server to a write: done, refused for good, observe again, or try
//! again later.

use std::time::Duration;

use kube::Client;
use kube::core::Status;
use serde_json::Value;
use tokio::time::timeout;

use super::act::Sent;
use lifecycle_client::kube::one_line;

/// How long a write may take.
const LONGEST_WRITE: Duration = Duration::from_secs(30);

/// How a write ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// With the object as it is now.
    Done(Value),
    /// The same request will be answered the same: the server's sentence.
    Refused(String),
    /// Refused like `Refused`, until another object releases the resource, such as a port.
    Occupied(String),
    /// The object has changed. The caches will show the change soon.
    Again(String),
    /// A later retry may succeed. The server may name the delay.
    Later(String, Option<Duration>),
    /// No response arrived, or no write is possible at all. This implies nothing about the object.
    Lost(String),
}

impl Outcome {
    /// As counters name it.
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Refused(_) | Self::Occupied(_) => "refused",
            Self::Again(_) => "again",
            Self::Later(..) | Self::Lost(_) => "later",
        }
    }
}

/// Sends a write and reads its answer.
pub async fn answer(client: Client, sent: Sent) -> Outcome {
    let request = match sent {
        Ok(request) => request,
        Err(error) => return judge(Err(kube::Error::BuildRequest(error))),
    };
    match timeout(LONGEST_WRITE, client.request::<Value>(request)).await {
        Ok(answer) => judge(answer),
        Err(_) => {
            let limit = LONGEST_WRITE.as_secs();
            let said = format!("the API server did not answer within {limit} s");
            Outcome::Lost(said)
        }
    }
}

/// Reads an answer.
fn judge(answer: Result<Value, kube::Error>) -> Outcome {
    match answer {
        Ok(object) => Outcome::Done(object),
        Err(kube::Error::Api(status)) => judge_status(&status),
        // The request was never sent: it cannot become better.
        Err(error @ kube::Error::BuildRequest(_)) => Outcome::Refused(one_line(&error)),
        Err(error) if is_connection(&error) => Outcome::Lost(one_line(&error)),
        Err(error) => Outcome::Later(one_line(&error), None),
    }
}

fn judge_status(status: &Status) -> Outcome {
    let message = sentence(status);
    let details = status.details.as_ref();
    let causes = details.map_or(&[][..], |d| d.causes.as_slice());
    let after = details.map(|d| d.retry_after_seconds).filter(|s| *s > 0);
    let later = || {
        let line = one_line(&kube::Error::Api(Box::new(status.clone())));
        Outcome::Later(line, after.map(|s| Duration::from_secs(s.into())))
    };
    match status.code {
        500.. if is_about_size(&status.message) => Outcome::Refused(message),
        500.. if is_about_storage(&status.message) => {
            Outcome::Lost(one_line(&kube::Error::Api(Box::new(status.clone()))))
        }
        422 if is_occupied(&status.message) => Outcome::Occupied(message),
        // Its storage had no answer, or not the one that was wanted.
        422 if message.contains("failed to allocate")
            && !message.contains("not in the valid range") =>
        {
            later()
        }
        422 if causes.iter().any(|c| c.field == "metadata.uid") => Outcome::Again(message),
        409 if causes.iter().any(|c| c.reason == "NamespaceTerminating") => later(),
        409 => Outcome::Again(message),
        403 if causes.iter().any(|c| c.reason == "NamespaceTerminating") => later(),
        403 if is_about_rights(&status.message) || is_about_quota(&status.message) => later(),
        500 if status
            .message
            .contains("failed to create typed patch object") =>
        {
            Outcome::Refused(message)
        }
        400 | 403 | 405 | 406 | 413 | 415 | 422 => Outcome::Refused(message),
        _ => later(),
    }
}

fn is_connection(error: &kube::Error) -> bool {
    matches!(error, kube::Error::HyperError(_) | kube::Error::Service(_))
}

/// `services is forbidden: User "x" cannot patch resource ..`: an administrator may grant it at any time.
fn is_about_rights(message: &str) -> bool {
    message.contains("forbidden: User \"") && message.contains(" cannot ")
}

/// Returns true for an exhausted quota, or one whose usage is not counted yet.
fn is_about_quota(message: &str) -> bool {
    message.contains("exceeded quota") || message.contains("status unknown for quota")
}

/// Returns true for an object that exceeds etcd's request size, as etcd or its client reports it.
fn is_about_size(message: &str) -> bool {
    let own = message.starts_with("etcdserver: request is too large");
    own || message.starts_with(
        "rpc error: code = ResourceExhausted desc = trying to send message larger than max",
    )
}

/// Returns true if the storage failed, so that nothing can be written at all. Text of the object
/// itself is not a message of the storage.
fn is_about_storage(message: &str) -> bool {
    message.starts_with("etcdserver: ")
}

/// Returns true if the resource is taken or exhausted, and another user may release it.
fn is_occupied(message: &str) -> bool {
    freed(message).is_some()
}

/// Returns the way to obtain a resource that another object holds, or that is exhausted. Returns
/// `None` for other refusals.
pub(crate) fn freed(message: &str) -> Option<&'static str> {
    if message.contains("is already allocated") {
        return Some(
            "another object has it: free it there, or ask for another one; the operator tries again each minute",
        );
    }
    let is_full = message.contains("range is full");
    is_full.then_some("none is left: free one; the operator tries again each minute")
}

fn sentence(status: &Status) -> String {
    let message = status.message.trim();
    if message.is_empty() {
        return format!("the API server answered {} {}", status.code, status.reason);
    }
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use kube::core::response::{StatusCause, StatusDetails};

    use super::*;

    fn check(code: u16, message: &str, cause: Option<(&str, &str)>, expected: &str) {
        let cause = cause.map(|(reason, field)| StatusCause {
            reason: reason.to_owned(),
            message: String::new(),
            field: field.to_owned(),
        });
        let details = StatusDetails {
            name: String::new(),
            group: String::new(),
            kind: String::new(),
            uid: String::new(),
            causes: cause.into_iter().collect(),
            retry_after_seconds: u32::from(code == 429) * 7,
        };
        let status = Status::failure(message, "")
            .with_code(code)
            .with_details(details);
        let outcome = judge(Err(kube::Error::Api(Box::new(status))));
        assert_eq!(outcome.as_str(), expected, "{code} {message}: {outcome:?}");
    }

    #[test]
    fn invalid_objects_are_refused_unless_it_is_the_moment() {
        let uid = Some(("FieldValueInvalid", "metadata.uid"));
        let port = Some(("FieldValueInvalid", "spec.ports"));
        check(
            422,
            "Service \"a\" is invalid: metadata.uid: Invalid value",
            uid,
            "again",
        );
        check(422, "Service \"a\" is invalid: spec.ports", port, "refused");
        check(
            422,
            "Service \"a\" is invalid: spec.clusterIPs: Invalid value: []string(nil): failed to allocate IP 10.96.0.7: etcdserver: mvcc: database space exceeded",
            port,
            "later",
        );
        check(
            422,
            "Service \"a\" is invalid: spec.externalName: Invalid value: \"etcdserver: space exceeded\"",
            port,
            "refused",
        );
        check(
            422,
            "Service \"a\" is invalid: spec.clusterIPs: Invalid value: []string{\"1.2.3.4\"}: failed to allocate IP 1.2.3.4: the provided IP (1.2.3.4) is not in the valid range. The range of valid IPs is 10.96.0.0/12",
            port,
            "refused",
        );
        check(
            500,
            "etcdserver: mvcc: database space exceeded",
            None,
            "later",
        );
        check(500, "etcdserver: leader changed", None, "later");
        check(
            422,
            "Service \"a\" is invalid: spec.clusterIPs: Invalid value: []string(nil): failed to allocate IP 10.96.0.7: Operation cannot be fulfilled on ipaddresses",
            port,
            "later",
        );
        check(
            422,
            "Service \"a\" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated",
            port,
            "refused",
        );
    }

    #[test]
    fn what_others_forbid_may_pass_by_itself_or_not() {
        let going = Some(("NamespaceTerminating", "metadata.namespace"));
        check(
            400,
            "admission webhook \"w\" denied the request: no",
            None,
            "refused",
        );
        check(
            403,
            "admission webhook \"w\" denied the request: no",
            None,
            "refused",
        );
        check(
            403,
            "services \"a\" is forbidden: violates PodSecurity",
            None,
            "refused",
        );
        check(
            403,
            "services is forbidden: User \"u\" cannot patch resource \"services\" in API group \"\"",
            None,
            "later",
        );
        check(
            403,
            "services \"a\" is forbidden: exceeded quota: q, requested: services=1",
            None,
            "later",
        );
        check(
            403,
            "services \"a\" is forbidden: unable to create new content in namespace n because it is being terminated",
            going,
            "later",
        );
        check(404, "namespaces \"n\" not found", None, "later");
        check(404, "404 page not found", None, "later");
        check(401, "Unauthorized", None, "later");
        check(
            409,
            "the object has been modified; please apply your changes to the latest version",
            None,
            "again",
        );
        check(429, "too many requests", None, "later");
        check(
            500,
            "failed to create typed patch object (ns/a; /v1, Kind=Service): .spec.x: field not declared in schema",
            None,
            "refused",
        );
        check(
            500,
            "Internal error occurred: failed calling webhook \"w\": dial tcp: connection refused",
            None,
            "later",
        );
        check(503, "", None, "later");
    }

    #[test]
    fn what_may_pass_by_itself_is_told_apart_from_what_is_refused_for_good() {
        let judge = |code: u16, message: &str| {
            let status = Status::failure(message, "").with_code(code);
            judge_status(&status)
        };
        let taken = "Service \"a\" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated";
        assert_eq!(judge(422, taken), Outcome::Occupied(taken.to_owned()));
        let none_left = "Service \"a\" is invalid: spec.clusterIPs: Invalid value: []string(nil): failed to allocate a serviceIP: range is full";
        assert_eq!(
            judge(422, none_left),
            Outcome::Occupied(none_left.to_owned())
        );
        // Of the server, not of the object: it holds for all.
        let full = "etcdserver: mvcc: database space exceeded";
        let said =
            format!("the API server's storage is full: compact etcd, or raise its quota: {full}");
        assert_eq!(judge(500, full), Outcome::Lost(said));
        // Of the object alone: the same request is too large the next time.
        for large in [
            "etcdserver: request is too large",
            "rpc error: code = ResourceExhausted desc = trying to send message larger than max (2270042 vs. 2097152)",
        ] {
            assert_eq!(judge(500, large), Outcome::Refused(large.to_owned()));
        }
    }

    #[test]
    fn the_server_may_say_how_long_to_wait() {
        let details = StatusDetails {
            name: String::new(),
            group: String::new(),
            kind: String::new(),
            uid: String::new(),
            causes: Vec::new(),
            retry_after_seconds: 7,
        };
        let status = Status::failure("slow down", "")
            .with_code(429)
            .with_details(details);
        assert_eq!(
            judge_status(&status),
            Outcome::Later("slow down".to_owned(), Some(Duration::from_secs(7)))
        );
    }
}
