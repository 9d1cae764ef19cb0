//! Tables of cases: those of Kubernetes' own cron parser, gaps and overlaps, lines that are never
//! due, and the last time against the next ones.

use super::*;

const NEW_YORK: &str = "America/New_York";

fn time(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

fn cron(line: &str, zone: Option<&str>) -> Cron {
    Cron::parse(line, zone).expect("a line")
}

fn next(line: &str, zone: Option<&str>, after: &str) -> Option<Timestamp> {
    cron(line, zone).next(time(after))
}

/// Lines, times, and when each is due next.
const FIELDS: &[(&str, &str, &str)] = &[
    (
        "0/15 * * * *",
        "2012-07-09T14:45:00Z",
        "2012-07-09T15:00:00Z",
    ),
    (
        "0/15 * * * *",
        "2012-07-09T14:59:59Z",
        "2012-07-09T15:00:00Z",
    ),
    (
        "*/15 * * * *",
        "2012-07-09T23:46:00Z",
        "2012-07-10T00:00:00Z",
    ),
    (
        "20-35/15 * * * *",
        "2012-07-09T15:45:00Z",
        "2012-07-09T16:20:00Z",
    ),
    (
        "20-35/15 * * * *",
        "2012-07-09T23:45:00Z",
        "2012-07-10T00:20:00Z",
    ),
    (
        "20-35/15 1/2 */2 * *",
        "2012-07-09T23:35:51Z",
        "2012-07-11T01:20:00Z",
    ),
    (
        "20-35/15 * 9-20 JUL *",
        "2012-07-09T23:35:51Z",
        "2012-07-10T00:20:00Z",
    ),
    (
        "0 0 9 Apr-Oct ?",
        "2012-07-09T23:35:00Z",
        "2012-08-09T00:00:00Z",
    ),
    (
        "0 0 */5 Apr,Aug,Oct Mon",
        "2012-07-09T23:35:00Z",
        "2012-08-01T00:00:00Z",
    ),
    (
        "0 0 * Feb Mon",
        "2012-07-09T23:35:00Z",
        "2013-02-04T00:00:00Z",
    ),
    (
        "0 0 * Feb Mon/2",
        "2012-07-09T23:35:00Z",
        "2013-02-01T00:00:00Z",
    ),
    ("* * * * *", "2012-12-31T23:59:45Z", "2013-01-01T00:00:00Z"),
    (
        "0 0 29 Feb ?",
        "2012-07-09T23:35:00Z",
        "2016-02-29T00:00:00Z",
    ),
    (
        "30 08 15 Jul ?",
        "2012-07-01T00:00:00Z",
        "2012-07-15T08:30:00Z",
    ),
    (
        "0 0 1,15 * Sun",
        "2012-06-14T00:00:00Z",
        "2012-06-15T00:00:00Z",
    ),
    (
        "0 0 1,15 * Sun",
        "2012-06-15T00:00:00Z",
        "2012-06-17T00:00:00Z",
    ),
    (
        "0 0 1,15 * *",
        "2012-07-02T00:00:00Z",
        "2012-07-15T00:00:00Z",
    ),
    // A step turns a star into a restricted day.
    (
        "0 0 */10 * Sun",
        "2012-07-11T00:00:00Z",
        "2012-07-15T00:00:00Z",
    ),
    (
        "0 0 */1 * Sun",
        "2012-07-11T00:00:00Z",
        "2012-07-15T00:00:00Z",
    ),
    (
        "0 0 1/100 * *",
        "2012-07-09T00:00:00Z",
        "2012-08-01T00:00:00Z",
    ),
    ("@hourly", "2012-07-09T15:04:00Z", "2012-07-09T16:00:00Z"),
    ("@daily", "2012-07-09T15:00:00Z", "2012-07-10T00:00:00Z"),
    ("@midnight", "2012-07-09T15:00:00Z", "2012-07-10T00:00:00Z"),
    ("@weekly", "2012-07-09T15:00:00Z", "2012-07-15T00:00:00Z"),
    ("@monthly", "2012-07-09T15:00:00Z", "2012-08-01T00:00:00Z"),
    ("@yearly", "2012-07-09T15:00:00Z", "2013-01-01T00:00:00Z"),
    (
        "  5  4 * * 1-5 ",
        "2026-01-02T05:00:00Z",
        "2026-01-05T04:05:00Z",
    ),
];

#[test]
fn what_comes_next_follows_from_the_fields() {
    for (line, after, expected) in FIELDS.iter().copied() {
        assert_eq!(
            next(line, None, after),
            Some(time(expected)),
            "{line} after {after}"
        );
    }
}

#[test]
fn a_time_that_a_gap_leaves_out_is_not_due_and_one_that_there_is_twice_is_due_twice() {
    let table = [
        // Put forward: from 02:00 to 03:00.
        (
            "30 2 * * *",
            "2012-03-11T00:00:00-05:00",
            "2012-03-12T02:30:00-04:00",
        ),
        (
            "30 2 11 Mar ?",
            "2012-03-11T00:00:00-05:00",
            "2013-03-11T02:30:00-04:00",
        ),
        (
            "0 * * * *",
            "2012-03-11T01:00:00-05:00",
            "2012-03-11T03:00:00-04:00",
        ),
        (
            "0 3 * * *",
            "2012-03-11T01:59:00-05:00",
            "2012-03-11T03:00:00-04:00",
        ),
        // Put back: from 02:00 to 01:00.
        (
            "30 2 04 Nov ?",
            "2012-11-04T00:00:00-04:00",
            "2012-11-04T02:30:00-05:00",
        ),
        (
            "30 1 04 Nov ?",
            "2012-11-04T00:00:00-04:00",
            "2012-11-04T01:30:00-04:00",
        ),
        (
            "30 1 04 Nov ?",
            "2012-11-04T01:45:00-04:00",
            "2012-11-04T01:30:00-05:00",
        ),
        (
            "0 1 * * *",
            "2012-11-04T01:00:00-04:00",
            "2012-11-04T01:00:00-05:00",
        ),
        (
            "0 1 * * *",
            "2012-11-04T01:00:00-05:00",
            "2012-11-05T01:00:00-05:00",
        ),
        (
            "0 * * * *",
            "2012-11-04T01:00:00-04:00",
            "2012-11-04T01:00:00-05:00",
        ),
    ];
    for (line, after, expected) in table {
        let found = next(line, Some(NEW_YORK), after);
        assert_eq!(found, Some(time(expected)), "{line} after {after}");
    }
    // A day that begins at one o'clock.
    let found = next(
        "0 1 * * *",
        Some("America/Asuncion"),
        "2023-09-30T12:00:00Z",
    );
    assert_eq!(found, Some(time("2023-10-01T01:00:00-03:00")));
    let found = next(
        "0 0 1 10 *",
        Some("America/Asuncion"),
        "2023-09-30T12:00:00Z",
    );
    assert_eq!(found, Some(time("2024-10-01T00:00:00-04:00")));
    // Half an hour, which is how much clocks are moved there.
    let found = next(
        "15 2 * * *",
        Some("Australia/Lord_Howe"),
        "2024-10-05T15:00:00Z",
    );
    assert_eq!(found, Some(time("2024-10-07T02:15:00+11:00")));
}

#[test]
fn what_never_is_due_is_looked_for_no_further_than_five_years() {
    for line in ["0 0 30 2 *", "0 0 31 Apr ?", "0 0 31 2,4,6,9,11 *"] {
        let cron = cron(line, None);
        let now = time("2012-07-09T23:35:00Z");
        assert_eq!((cron.next(now), cron.last(now)), (None, None), "{line}");
        let due = cron.due(Timestamp::UNIX_EPOCH, &now);
        assert_eq!((due.because.value, due.until), (None, None));
        assert_eq!(due.because.sentence, "it is never due");
    }
    for end in [Timestamp::MIN, Timestamp::MAX] {
        let cron = cron("0 0 29 2 *", Some(NEW_YORK));
        let _ = (cron.next(end), cron.last(end), cron.due(end, &end));
    }
}

/// One step after the other, from long before.
fn last_by_steps(cron: &Cron, now: Timestamp) -> Option<Timestamp> {
    let mut at = now - SignedDuration::from_hours(24 * 400);
    let mut last = None;
    while let Some(next) = cron.next(at).filter(|next| *next <= now) {
        (at, last) = (next, Some(next));
    }
    last
}

#[test]
fn the_last_time_is_the_one_after_which_none_comes_until_now() {
    let lines = [
        "7 3 * * *",
        "0 */6 * * 1-5",
        "15 1 * * 0",
        "0 0 1 1 *",
        "30 1,2 * * *",
        "* 4 1 * *",
        "59 23 31 12 *",
    ];
    let times = [
        "2012-11-04T01:29:59-04:00",
        "2012-11-04T01:30:00-04:00",
        "2012-11-04T01:45:00-04:00",
        "2012-11-04T01:30:00-05:00",
        "2012-03-11T03:10:00-04:00",
        "2012-07-09T23:35:51Z",
        "2013-01-01T00:00:00-05:00",
        "2012-12-31T23:58:59-05:00",
    ];
    for line in lines {
        for now in times.map(time) {
            let cron = cron(line, Some(NEW_YORK));
            assert_eq!(cron.last(now), last_by_steps(&cron, now), "{line} at {now}");
        }
    }
    let every = cron("* * * * *", None);
    assert_eq!(
        every.last(time("2012-07-09T23:35:51Z")),
        Some(time("2012-07-09T23:35:00Z"))
    );
    assert_eq!(
        every.last(time("2012-07-09T23:35:00Z")),
        Some(time("2012-07-09T23:35:00Z"))
    );
    let leap = cron("0 0 29 2 *", None);
    assert_eq!(
        leap.last(time("2028-02-28T00:00:00Z")),
        Some(time("2024-02-29T00:00:00Z"))
    );
}

#[test]
fn work_is_due_once_for_all_that_was_missed_and_that_holds_until_it_is_due_again() {
    let cron = cron("0 4 * * *", Some("Europe/Berlin"));
    let now = time("2026-01-10T12:00:00+01:00");
    let tomorrow = Some(time("2026-01-11T04:00:00+01:00"));
    let due = cron.due(time("2026-01-07T04:00:00+01:00"), &now);
    assert_eq!(due.because.value, Some(time("2026-01-10T04:00:00+01:00")));
    assert_eq!(due.because.sentence, "it was due at 2026-01-10T03:00:00Z");
    assert_eq!(due.until, tomorrow);
    let done = cron.due(time("2026-01-10T04:00:00+01:00"), &now);
    assert_eq!((done.because.value, done.until), (None, tomorrow));
    assert_eq!(done.because.sentence, "it is due at 2026-01-11T03:00:00Z");
}

#[test]
fn what_a_cron_job_refuses_is_refused_with_what_to_write() {
    let table = [
        ("", "has 0 fields"),
        ("* * * *", "has 4 fields"),
        ("* * * * * *", "has 6 fields"),
        ("* * * * * UTC", "has 6 fields"),
        ("TZ=UTC * * * * *", "has 6 fields"),
        ("@every 1h", "is not known"),
        ("@reboot", "is not known"),
        ("60 * * * *", "`60` is no minute: it is from 0 to 59"),
        ("* 24 * * *", "`24` is no hour: it is from 0 to 23"),
        (
            "* * 0 * *",
            "`0` is no day of the month: it is from 1 to 31",
        ),
        ("* * 32 * *", "`32` is no day of the month"),
        ("* * * 13 *", "`13` is no month"),
        ("* * * * 7", "`7` is no day of the week: it is from 0 to 6"),
        ("* * L * *", "`L` is no day of the month: write numbers"),
        ("* * 15W * *", "`15W` is no day of the month"),
        ("* * * * mon#1", "`mon#1` is no day of the week"),
        ("jan * * * *", "`jan` is no minute"),
        ("*/0 * * * *", "a step is at least 1"),
        ("5-1 * * * *", "5 is behind 1"),
        ("* * * * fri-mon", "5 is behind 1"),
        ("-5 * * * *", "`-5` is no minute"),
        ("1-2-3 * * * *", "`1-2-3` is no minute"),
        ("1/2/3 * * * *", "`1/2/3` is no minute"),
        ("+1 * * * *", "`+1` is no minute"),
        ("1, * * * *", "`` is no minute"),
        ("99999999999999999999 * * * *", "is no minute"),
    ];
    for (line, expected) in table {
        let said = Cron::parse(line, None).expect_err(line).to_string();
        assert!(said.contains(expected), "{line}: {said}");
    }
    for zone in ["", "Local", "Europe/Atlantis", "../etc/passwd", "+02:00"] {
        let said = Cron::parse("* * * * *", Some(zone))
            .expect_err(zone)
            .to_string();
        assert!(said.contains("is no time zone"), "{said}");
    }
    for zone in ["UTC", "Etc/UTC", "Europe/Berlin", "Asia/Kolkata"] {
        assert!(Cron::parse("* * * * *", Some(zone)).is_ok(), "{zone}");
    }
}
