//! Metrics of the process, as Prometheus reads them. Counts nothing itself.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use lifecycle_runtime::counters::{Counts, Latency};
use lifecycle_runtime::health::Health;
use lifecycle_runtime::requests::{self, Requests};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::prometheus_text::{self, encode};
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

/// The beginning of all names.
const PREFIX: &str = "lifecycle";

/// Answers at `/metrics`.
pub fn routes(health: Health) -> Router {
    Router::new()
        .route("/metrics", get(answer))
        .with_state(health)
}

async fn answer(State(health): State<Health>) -> Response {
    let snapshot = Snapshot {
        is_ready: health.missing().is_empty(),
        counts: health.counts(),
        requests: requests::sent(),
    };
    match snapshot.text() {
        Ok(text) => ([(CONTENT_TYPE, prometheus_text::CONTENT_TYPE)], text).into_response(),
        Err(_) => (
            StatusCode::INTERNAL_SERVER_ERROR,
            "the metrics have no text\n",
        )
            .into_response(),
    }
}

/// Everything that one answer is made of.
#[derive(Debug)]
struct Snapshot {
    is_ready: bool,
    counts: Counts,
    requests: Requests,
}

impl Snapshot {
    fn text(self) -> Result<String, fmt::Error> {
        let mut registry = Registry::with_prefix(PREFIX);
        registry.register_collector(Box::new(self));
        let mut text = String::new();
        encode(&mut text, &registry)?;
        Ok(text)
    }

    fn objects(&self, page: &mut Page<'_>) -> fmt::Result {
        let counts = &self.counts;
        let states = counts.states.iter();
        page.gauges(
            "objects",
            "Objects by the state that their last reconcile found.",
            states.map(|((kind, state), number)| ([("kind", *kind), ("state", *state)], *number)),
        )?;
        let transitions = counts.transitions.iter();
        page.counters(
            "transitions",
            "Changes of the state of an object.",
            transitions.map(|([kind, from, to], number)| {
                ([("kind", *kind), ("from", *from), ("to", *to)], *number)
            }),
        )?;
        let overdue = counts.overdue.iter();
        page.gauges(
            "overdue",
            "Objects that have been in their state for longer than their lifecycle expects.",
            overdue.map(|(kind, number)| ([("kind", *kind)], *number)),
        )?;
        page.gauge(
            "contradictions",
            "Reconciles of existing objects in a world that the lifecycle rules out.",
            counts.contradictions.values().sum(),
        )
    }

    fn passes(&self, page: &mut Page<'_>) -> fmt::Result {
        let counts = &self.counts;
        page.counter(
            "passes",
            "Reconciles: the operator evaluated an object and decided what to do.",
            counts.all_passes(),
        )?;
        let outcomes = counts.outcomes.iter();
        page.counters(
            "reconciles",
            "Reconciles by outcome.",
            outcomes.map(|((kind, outcome), number)| {
                ([("kind", *kind), ("outcome", *outcome)], *number)
            }),
        )?;
        page.gauge(
            "queue_depth",
            "Objects that were due and not yet reconciled, within the last five seconds.",
            counts.due as u64,
        )?;
        page.histogram(
            "queue_latency_seconds",
            "Time from when an object was due until its reconcile.",
            counts.latency,
        )?;
        page.counter(
            "expired_answers",
            "Answers of facts that had expired when they were given.",
            counts.expired_answers,
        )?;
        page.counter(
            "polls",
            "Polls of systems outside the cluster.",
            counts.polls,
        )?;
        page.counter(
            "put_off",
            "Answers of polls and calls that set the time of the next attempt.",
            counts.put_off,
        )
    }

    fn outside(&self, page: &mut Page<'_>) -> fmt::Result {
        let counts = &self.counts;
        page.gauge(
            "writes_in_flight_most",
            "Maximum number of concurrent writes.",
            counts.most_in_flight as u64,
        )?;
        let writes = counts.writes.iter();
        page.counters(
            "writes",
            "Writes by target and result.",
            writes.map(|([kind, what, ended], number)| {
                (
                    [("kind", *kind), ("what", *what), ("ended", *ended)],
                    *number,
                )
            }),
        )?;
        let code = |code: &Option<u16>| code.map_or("error".to_owned(), |code| code.to_string());
        page.counters(
            "api_requests",
            "Requests to API servers, by verb and status of the answer.",
            self.requests.iter().map(|((verb, status), number)| {
                let labels = [("verb", (*verb).to_owned()), ("code", code(status))];
                (labels, *number)
            }),
        )?;
        page.silences(&counts.silence)?;
        page.counters(
            "csi_calls",
            "Answered CSI calls, by method and code.",
            counts.calls.iter().map(|((rpc, code), number)| {
                let code = code.map_or("OK".to_owned(), |code| format!("{code:?}"));
                ([("method", format!("{rpc:?}")), ("code", code)], *number)
            }),
        )
    }
}

impl Collector for Snapshot {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut page = Page(encoder);
        page.gauge(
            "ready",
            "1 if every part of the process is ready.",
            u64::from(self.is_ready),
        )?;
        let leads = self.counts.leads.iter();
        let lease = self.counts.lease.as_deref().unwrap_or_default();
        page.gauges(
            "leader",
            "1 if this process may write.",
            leads.map(|leads| ([("lease", lease)], u64::from(*leads))),
        )?;
        self.objects(&mut page)?;
        self.passes(&mut page)?;
        self.outside(&mut page)
    }
}

/// The page that is written; the library adds `_total` to the names of counters.
struct Page<'a>(DescriptorEncoder<'a>);

impl Page<'_> {
    fn family<'s>(
        &'s mut self,
        name: &'s str,
        help: &str,
        of: MetricType,
    ) -> Result<MetricEncoder<'s>, fmt::Error> {
        self.0.encode_descriptor(name, help, None, of)
    }

    fn gauge(&mut self, name: &str, help: &str, value: u64) -> fmt::Result {
        self.family(name, help, MetricType::Gauge)?
            .encode_gauge(&value)
    }

    fn gauges<L: EncodeLabelSet>(
        &mut self,
        name: &str,
        help: &str,
        all: impl Iterator<Item = (L, u64)>,
    ) -> fmt::Result {
        let mut family = self.family(name, help, MetricType::Gauge)?;
        for (labels, value) in all {
            family.encode_family(&labels)?.encode_gauge(&value)?;
        }
        Ok(())
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) -> fmt::Result {
        count(self.family(name, help, MetricType::Counter)?, value)
    }

    fn counters<L: EncodeLabelSet>(
        &mut self,
        name: &str,
        help: &str,
        all: impl Iterator<Item = (L, u64)>,
    ) -> fmt::Result {
        let mut family = self.family(name, help, MetricType::Counter)?;
        for (labels, value) in all {
            count(family.encode_family(&labels)?, value)?;
        }
        Ok(())
    }

    fn histogram(&mut self, name: &str, help: &str, of: Latency) -> fmt::Result {
        let bounds = Latency::BOUNDS.into_iter().chain([f64::INFINITY]);
        let buckets: Vec<_> = bounds.zip(of.counts).collect();
        let mut family = self.family(name, help, MetricType::Histogram)?;
        let (sum, number) = (of.sum.as_secs_f64(), of.counts.iter().sum());
        family.encode_histogram::<NoLabels>(sum, number, &buckets, None)
    }

    fn silences(&mut self, all: &BTreeMap<String, Duration>) -> fmt::Result {
        let (name, help) = (
            "watch_age_seconds",
            "Time since the last message of the API server on the watch of a kind.",
        );
        let mut family = self.family(name, help, MetricType::Gauge)?;
        for (kind, silence) in all {
            let labels = [("kind", kind.as_str())];
            let mut one = family.encode_family(&labels)?;
            one.encode_gauge(&silence.as_secs_f64())?;
        }
        Ok(())
    }
}

type NoLabels = [(&'static str, &'static str); 0];

fn count(mut encoder: MetricEncoder<'_>, value: u64) -> fmt::Result {
    encoder.encode_counter::<NoLabels, _, u64>(&value, None)
}

#[cfg(test)]
mod tests;
