//! Time of the next reconciliation, by the wall clock and by the monotonic clock.

use super::*;

fn second(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).expect("a moment")
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn an_object_is_looked_at_when_an_answer_expires() {
    let (mut time, start) = (Time::default(), Instant::now());
    assert_eq!(time.due(), None);
    assert!(!time.passes(second(0), Some(second(30)), start));
    assert_eq!(time.due(), Some(start + 30 * SECOND));
    assert!(!time.passes(second(10), None, start + 10 * SECOND));
    assert_eq!(time.due(), None);
}

#[test]
fn an_answer_that_has_expired_is_taken_up_in_a_second() {
    let (mut time, start) = (Time::default(), Instant::now());
    for pass in 0..5 {
        let at = start + pass * SECOND;
        assert!(time.passes(second(pass.into()), Some(second(pass.into())), at));
        assert_eq!(time.due(), Some(at + SECOND));
    }
    assert_eq!(time.ticks(), 4);
}

#[test]
fn an_answer_that_expires_at_once_again_and_again_costs_a_pass_a_second() {
    let (mut time, start) = (Time::default(), Instant::now());
    let moment = |micros: i64| {
        let micros = 1_800_000_000_000_000 + micros;
        Timestamp::from_microsecond(micros).expect("a moment")
    };
    time.passes(moment(0), Some(moment(1)), start);
    assert_eq!(time.due(), Some(start + Duration::from_micros(1)));
    let at = start + Duration::from_micros(1);
    time.passes(moment(1), Some(moment(2)), at);
    assert_eq!(time.due(), Some(at + SECOND));
}

#[test]
fn only_time_that_may_have_changed_an_answer_counts_as_such() {
    let (mut time, at) = (Time::default(), Instant::now());
    time.passes(second(0), Some(second(30)), at);
    time.passes(second(29), Some(second(30)), at);
    assert_eq!(time.ticks(), 0);
    time.passes(second(30), None, at);
    assert_eq!(time.ticks(), 1);
    time.passes(second(31), None, at);
    assert_eq!(time.ticks(), 1);
    // The clock was put back.
    time.passes(second(5), Some(second(30)), at);
    assert_eq!(time.ticks(), 2);
}

#[test]
fn a_time_that_never_comes_needs_no_date() {
    let (mut time, at) = (Time::default(), Instant::now());
    time.passes(Timestamp::MIN, Some(Timestamp::MAX), at);
    assert!(time.due().is_none_or(|due| due > at + 1_000_000 * SECOND));
}
