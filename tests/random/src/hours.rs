//! Time for a random lifecycle: every answer that is made from it changes each day.

use jiff::{SignedDuration, Timestamp};
use lifecycle_runtime::machine::ir::Lifecycle;
use serde_json::{Map, Value, json};

/// Seconds between two answers. Longer than a run takes to settle.
const DAY: i64 = 86_400;

/// How much the time adds to each answer.
pub fn points(now: Timestamp) -> u64 {
    u64::try_from(now.as_second() / DAY).unwrap_or_default()
}

/// When it adds more.
pub fn next(now: Timestamp) -> Timestamp {
    let passed = SignedDuration::from_secs(now.as_second() % DAY);
    let begun = Timestamp::from_second(now.as_second()).unwrap_or(now);
    begun - passed + SignedDuration::from_secs(DAY)
}

/// Returns the time as a document that contains an answer to every question.
pub fn document(ir: &Lifecycle, now: Timestamp) -> Value {
    let answers = ir
        .vars
        .iter()
        .map(|var| (var.name.to_owned(), json!(points(now))));
    json!({ "spec": { "answers": answers.collect::<Map<_, _>>() } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_holds_until_the_next_one() {
        let noon = Timestamp::from_second(1_700_000_000).expect("a moment");
        let until = next(noon);
        let just_before = until - SignedDuration::from_nanos(1);
        assert_eq!(points(just_before), points(noon));
        assert_eq!(points(until), points(noon) + 1);
        assert_eq!(next(just_before), until);
        assert_eq!(next(until), until + SignedDuration::from_secs(DAY));
    }
}
