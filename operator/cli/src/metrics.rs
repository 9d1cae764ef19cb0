//! What an operator counts, as Prometheus reads it.

use std::fmt::Write as _;

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use lifecycle_runtime::controller::{Counters, Counts};
use lifecycle_runtime::health::Health;

const FORM: &str = "text/plain; version=0.0.4";

/// What answers at `/metrics`.
pub(crate) fn routes(counters: Counters, health: Health) -> Router {
    Router::new()
        .route("/metrics", get(answer))
        .with_state((counters, health))
}

async fn answer(State((counters, health)): State<(Counters, Health)>) -> Response {
    let text = text(&counters.read(), health.missing().is_empty());
    ([(CONTENT_TYPE, FORM)], text).into_response()
}

fn text(counts: &Counts, ready: bool) -> String {
    let mut out = String::new();
    let mut one = |name: &str, sort: &str, help: &str, value: u64| {
        let name = format!("lifecycle_{name}");
        // Writing into a text cannot fail.
        let _written = write!(
            out,
            "# HELP {name} {help}\n# TYPE {name} {sort}\n{name} {value}\n"
        );
    };
    one(
        "ready",
        "gauge",
        "Whether every part of the process is ready.",
        u64::from(ready),
    );
    one(
        "objects",
        "gauge",
        "Objects that the lifecycles look after.",
        counts.passes.len() as u64,
    );
    one(
        "passes_total",
        "counter",
        "Passes: an object was looked at, and it was decided what to do.",
        counts.all_passes(),
    );
    let contradictions = counts.contradictions.values().sum();
    one(
        "contradictions",
        "gauge",
        "Passes in a world that a lifecycle rules out, of objects that are there.",
        contradictions,
    );
    one(
        "expired_answers_total",
        "counter",
        "Answers of facts that had expired when they were given.",
        counts.expired_answers,
    );
    one(
        "polls_total",
        "counter",
        "Polls of what is outside the cluster.",
        counts.polls,
    );
    one(
        "put_off_total",
        "counter",
        "Answers of polls and calls that said when to come again.",
        counts.put_off,
    );
    one(
        "writes_in_flight_most",
        "gauge",
        "The most writes that were on their way at once.",
        counts.most_in_flight as u64,
    );
    out.push_str("# HELP lifecycle_writes_total Writes, by what was written and how it ended.\n# TYPE lifecycle_writes_total counter\n");
    for ((what, ended), number) in &counts.writes {
        let what = escaped(what);
        let _written = writeln!(
            out,
            "lifecycle_writes_total{{what=\"{what}\",ended=\"{ended}\"}} {number}"
        );
    }
    out
}

fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\\\");
    text.replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_its_help_and_its_type() {
        let mut counts = Counts {
            passes_of_gone: 3,
            polls: 2,
            ..Counts::default()
        };
        counts.writes.insert(("apply \"a\"".to_owned(), "done"), 5);
        let text = text(&counts, true);
        let value = |name: &str| {
            let line = text
                .lines()
                .find(|line| line.split(' ').next() == Some(name));
            line.and_then(|line| line.rsplit(' ').next())
                .map(str::to_owned)
        };
        assert_eq!(value("lifecycle_ready").as_deref(), Some("1"));
        assert_eq!(value("lifecycle_passes_total").as_deref(), Some("3"));
        assert_eq!(value("lifecycle_polls_total").as_deref(), Some("2"));
        assert!(
            text.ends_with("lifecycle_writes_total{what=\"apply \\\"a\\\"\",ended=\"done\"} 5\n"),
            "{text}"
        );
        let count = |begin: &str| text.lines().filter(|line| line.starts_with(begin)).count();
        assert_eq!((count("# HELP "), count("# TYPE ")), (9, 9));
    }
}
