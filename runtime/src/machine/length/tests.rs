//! Tests of the texts that count as a length of time: the table of Go's own tests, and additional
//! declared cases.

use std::time::Duration;

use super::*;

const MINUTE: i128 = 60 * SECOND;
const HOUR: i128 = 60 * MINUTE;

fn text(text: &str) -> Said {
    Said::Text(text.to_owned())
}

#[test]
fn what_go_reads_is_read_alike() {
    let table = [
        ("0", 0),
        ("-0", 0),
        ("+0", 0),
        ("5s", 5 * SECOND),
        ("1478s", 1_478 * SECOND),
        ("-5s", -5 * SECOND),
        ("+5s", 5 * SECOND),
        ("5.0s", 5 * SECOND),
        ("5.6s", 5 * SECOND + 600_000_000),
        ("5.s", 5 * SECOND),
        (".5s", 500_000_000),
        ("1.0040s", SECOND + 4_000_000),
        ("100.00100s", 100 * SECOND + 1_000_000),
        ("10ns", 10),
        ("11us", 11_000),
        ("12\u{b5}s", 12_000),
        ("12\u{3bc}s", 12_000),
        ("13ms", 13_000_000),
        ("15m", 15 * MINUTE),
        ("16h", 16 * HOUR),
        ("3h30m", 3 * HOUR + 30 * MINUTE),
        ("10.5s4m", 4 * MINUTE + 10 * SECOND + 500_000_000),
        ("-2m3.4s", -(2 * MINUTE + 3 * SECOND + 400_000_000)),
        ("1.5h30m", 2 * HOUR),
        ("1h1h", 2 * HOUR),
        (
            "1h2m3s4ms5us6ns",
            HOUR + 2 * MINUTE + 3 * SECOND + 4_005_006,
        ),
        ("52763797000ns", 52_763_797_000),
        ("0.3333333333333333333h", 20 * MINUTE - 1),
        ("9223372036854775807ns", LONGEST),
        ("2562047h47m16.854775807s", LONGEST),
    ];
    for (said, nanoseconds) in table {
        assert_eq!(text(said).nanoseconds(), Some(nanoseconds), "{said}");
    }
}

#[test]
fn what_go_refuses_is_refused() {
    let table = [
        "",
        "3",
        "-",
        "s",
        ".",
        "-.",
        ".s",
        "+.s",
        "1d",
        "1 h",
        " 1h",
        "1h ",
        "1h 30m",
        "1m-5s",
        "--5s",
        "+-5s",
        "1e3s",
        "1H",
        "1hour",
        "PT1H",
        "inf",
        "NaN",
        "\u{85}",
        "\u{ffff}5s",
        "9223372036854775810ns",
        "9223372036854775808ns",
        "3000000h",
        "99999999999999999999h",
        "1h99999999999999999999999999999999999999999h",
    ];
    for said in table {
        assert_eq!(text(said).nanoseconds(), None, "{said:?}");
    }
    assert_eq!(Said::Seconds(i64::MAX).nanoseconds(), None);
    assert_eq!(Said::Seconds(i64::MIN).nanoseconds(), None);
}

/// jiff parses durations in a form for people. For Kubernetes' forms that it accepts, both results
/// are equal.
#[test]
fn jiff_reads_the_same_where_it_reads_it() {
    for said in ["1h30m", "90m", "1.5h", "250ms", "2h45m30.5s", "1us", "24h"] {
        let jiff: jiff::SignedDuration = said.parse().unwrap();
        assert_eq!(text(said).nanoseconds(), Some(jiff.as_nanos()), "{said}");
    }
}

#[test]
fn what_is_missing_or_unreadable_or_too_short_is_replaced() {
    let length = Length {
        said: Some(0),
        otherwise: 30_000,
        least: 5_000,
    };
    let seconds = Duration::from_secs;
    let table = [
        (None, seconds(30), None),
        (Some(text("soon")), seconds(30), Some(Flaw::Unreadable)),
        (Some(text("30")), seconds(30), Some(Flaw::Unreadable)),
        (Some(text("1h")), seconds(3_600), None),
        (Some(text("5s")), seconds(5), None),
        (Some(text("4999ms")), seconds(5), Some(Flaw::TooShort)),
        (Some(text("0")), seconds(5), Some(Flaw::TooShort)),
        (Some(text("-1h")), seconds(5), Some(Flaw::TooShort)),
        (Some(Said::Seconds(60)), seconds(60), None),
        (Some(Said::Seconds(1)), seconds(5), Some(Flaw::TooShort)),
        (Some(Said::Seconds(-1)), seconds(5), Some(Flaw::TooShort)),
        (
            Some(Said::Seconds(i64::MAX)),
            seconds(30),
            Some(Flaw::Unreadable),
        ),
    ];
    for (said, counts, flaw) in table {
        assert_eq!(length.resolve(said.as_ref()), (counts, flaw), "{said:?}");
    }
}

proptest::proptest! {
    #[test]
    fn whatever_is_said_ends(said in "[-+.0-9a-z\u{b5} ]{0,40}") {
        let length = Length { said: Some(0), otherwise: 1_000, least: 10 };
        let (counts, _) = length.resolve(Some(&Said::Text(said)));
        proptest::prop_assert!(counts >= Duration::from_millis(10));
    }
}
