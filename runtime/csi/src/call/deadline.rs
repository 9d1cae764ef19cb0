//! Deadline up to which a call may wait. It follows the declaration, and is early enough to report
//! the reason before the caller gives up.

use std::time::Duration;

use tokio::time::Instant;

use lifecycle_runtime::machine::ir::Within;

/// Part of the caller's deadline that is reserved for the answer.
const MARGIN: Duration = Duration::from_secs(5);

/// Until when a call that began then may wait; `None` if it does not wait at all.
pub(crate) fn waits_until(
    began: Instant,
    within: Option<Within>,
    caller: Option<Instant>,
) -> Option<Instant> {
    let own = began + Duration::from_millis(within?.time);
    let theirs = caller.map(|limit| limit.checked_sub(MARGIN).unwrap_or(began).max(began));
    Some(theirs.map_or(own, |theirs| theirs.min(own)))
}

/// The time of `grpc-timeout`: at most eight digits and a unit.
pub(crate) fn timeout_of(header: &str) -> Option<Duration> {
    let (digits, unit) = header.split_at_checked(header.len().checked_sub(1)?)?;
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let number: u64 = digits
        .parse()
        .ok()
        .filter(|_| is_number && digits.len() <= 8)?;
    match unit {
        "H" => Some(Duration::from_secs(number * 3600)),
        "M" => Some(Duration::from_secs(number * 60)),
        "S" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_millis(number)),
        "u" => Some(Duration::from_micros(number)),
        "n" => Some(Duration::from_nanos(number)),
        _ => None,
    }
}

/// When the caller of a request gives up.
pub(crate) fn of_request<T>(request: &tonic::Request<T>) -> Option<Instant> {
    let header = request.metadata().get("grpc-timeout")?.to_str().ok()?;
    Instant::now().checked_add(timeout_of(header)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lifecycle_runtime::machine::ir::Code;

    #[tokio::test(start_paused = true)]
    async fn b43_a_call_waits_as_declared_and_ends_five_seconds_before_its_caller() {
        let began = Instant::now();
        let seconds = Duration::from_secs;
        let check = |within: Option<u64>, caller: Option<u64>, expected: Option<u64>| {
            let within = within.map(|s| Within {
                time: s * 1000,
                code: Code::Unavailable,
            });
            let caller = caller.map(|s| began + seconds(s));
            let until = waits_until(began, within, caller);
            assert_eq!(until.map(|until| until - began), expected.map(seconds));
        };
        check(None, None, None);
        check(None, Some(120), None);
        check(Some(90), None, Some(90));
        check(Some(90), Some(120), Some(90));
        check(Some(90), Some(60), Some(55));
        check(Some(90), Some(10), Some(5));
        check(Some(90), Some(3), Some(0));
        check(Some(0), Some(60), Some(0));
    }

    #[test]
    fn timeouts_are_read_as_grpc_writes_them() {
        let check = |header: &str, expected: Option<Duration>| {
            assert_eq!(timeout_of(header), expected, "{header:?}");
        };
        check("2M", Some(Duration::from_secs(120)));
        check("1H", Some(Duration::from_secs(3600)));
        check("10S", Some(Duration::from_secs(10)));
        check("119999m", Some(Duration::from_millis(119_999)));
        check("99999999u", Some(Duration::from_micros(99_999_999)));
        check("7n", Some(Duration::from_nanos(7)));
        for bad in [
            "",
            "S",
            "5",
            "-5S",
            "+5S",
            "5s",
            "999999999S",
            "5é",
            "é",
            " 5S",
        ] {
            check(bad, None);
        }
    }
}
