//! Spans of time as Kubernetes prints them: two or three digits that matter.

use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// How long ago that was; `<unknown>` without a time.
pub(crate) fn since(time: Option<Timestamp>, now: Timestamp) -> String {
    match time {
        Some(time) => human(now.duration_since(time).as_secs()),
        None => "<unknown>".to_owned(),
    }
}

/// A number of seconds for people. Clocks may disagree by a second, so that much in the future is now.
pub(crate) fn human(seconds: i64) -> String {
    let pair = |large: i64, unit: char, small: i64, fine: char| match small {
        0 => format!("{large}{unit}"),
        small => format!("{large}{unit}{small}{fine}"),
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1..0 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => pair(seconds / MINUTE, 'm', seconds % MINUTE, 's'),
        600..10_800 => format!("{}m", seconds / MINUTE),
        10_800..28_800 => pair(seconds / HOUR, 'h', seconds / MINUTE % 60, 'm'),
        28_800..172_800 => format!("{}h", seconds / HOUR),
        172_800..691_200 => pair(seconds / DAY, 'd', seconds / HOUR % 24, 'h'),
        691_200..63_072_000 => format!("{}d", seconds / DAY),
        63_072_000..252_288_000 => pair(seconds / YEAR, 'y', seconds / DAY % 365, 'd'),
        _ => format!("{}y", seconds / YEAR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_rounded_as_kubernetes_rounds_them() {
        let expected = [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (121, "2m1s"),
            (599, "9m59s"),
            (600, "10m"),
            (3 * HOUR - 1, "179m"),
            (3 * HOUR, "3h"),
            (3 * HOUR + 61, "3h1m"),
            (8 * HOUR, "8h"),
            (2 * DAY - 1, "47h"),
            (2 * DAY, "2d"),
            (2 * DAY + HOUR, "2d1h"),
            (8 * DAY, "8d"),
            (2 * YEAR - 1, "729d"),
            (2 * YEAR + DAY, "2y1d"),
            (8 * YEAR, "8y"),
        ];
        for (seconds, text) in expected {
            assert_eq!(human(seconds), text, "{seconds}");
        }
    }

    #[test]
    fn without_a_time_nothing_is_known() {
        assert_eq!(since(None, Timestamp::UNIX_EPOCH), "<unknown>");
    }
}
