//! Lengths of time, as they are written for people.

use std::time::Duration;

/// `3 min`, `2 h 5 min`, `500 ms`.
pub(crate) fn length(length: Duration) -> String {
    match length.as_secs() {
        0 => format!("{} ms", length.as_millis()),
        seconds => of_seconds(seconds),
    }
}

/// Formats a number of seconds in its two largest units.
pub(crate) fn of_seconds(seconds: u64) -> String {
    let units = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")];
    let mut rest = seconds;
    let mut parts = Vec::new();
    for (unit, name) in units {
        let count = rest / unit;
        rest %= unit;
        if count > 0 {
            parts.push(format!("{count} {name}"));
        }
    }
    parts.truncate(2);
    if parts.is_empty() {
        return "0 s".to_owned();
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_written_in_the_two_largest_units() {
        let check = |millis, expected: &str| {
            assert_eq!(length(Duration::from_millis(millis)), expected);
        };
        check(500, "500 ms");
        check(30_000, "30 s");
        check(600_000, "10 min");
        check(5_430_000, "1 h 30 min");
        check(90_061_000, "1 d 1 h");
        assert_eq!(of_seconds(0), "0 s");
    }
}
