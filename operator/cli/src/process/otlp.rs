//! Sends logs and traces to a collector, by OTLP over gRPC, in batches and from threads of their own. The SDK reads endpoints, headers, queues and
//! time limits from the variables of the OpenTelemetry specification. Knows no option and no level.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_appender_tracing::layer::OpenTelemetryTracingBridge;
use opentelemetry_otlp::tonic_types::transport::ClientTlsConfig;
use opentelemetry_otlp::{
    ExporterBuildError, LogExporter, OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_LOGS_ENDPOINT,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, SpanExporter, WithTonicConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::logs::{LogBatch, SdkLoggerProvider};
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData};
use tokio::task::{JoinError, spawn_blocking};
use tracing_subscriber::filter::{FilterExt as _, LevelFilter, filter_fn};
use tracing_subscriber::layer::Filter;
use tracing_subscriber::{EnvFilter, Layer, Registry};

/// Time limit for sending the queue at the end of a process. The rest of the shutdown has to fit
/// into five seconds, too.
const FLUSH: Duration = Duration::from_secs(3);
/// How often an outage that goes on is reported.
const AGAIN: Duration = Duration::from_secs(600);
/// Takes precedence over the name of the program.
const SERVICE_NAME: &str = "OTEL_SERVICE_NAME";
/// The address at which a collector listens by the specification.
const USUAL_ENDPOINT: &str = "http://localhost:4317";
/// Targets of the exporters themselves. Were their own lines exported, each export would cause the next.
const OWN: [&str; 7] = [
    "h2",
    "hyper",
    "lifecycle_cli::process::otlp",
    "opentelemetry",
    "rustls",
    "tonic",
    "tower",
];

type Boxed = Box<dyn Layer<Registry> + Send + Sync>;

/// Sends logs and traces; nothing where neither is enabled.
#[derive(Debug, Default)]
#[must_use = "queued data is lost unless `flush` sends it"]
pub struct Exporters {
    logs: Option<SdkLoggerProvider>,
    traces: Option<SdkTracerProvider>,
}

impl Exporters {
    /// Exports the log lines that the filter permits. A Tokio runtime must be running.
    ///
    /// # Errors
    /// The endpoint or another variable of the specification is invalid.
    pub(crate) fn export_logs(
        &mut self,
        service: (&str, &str),
        filter: EnvFilter,
    ) -> Result<Boxed, ExporterBuildError> {
        let endpoint = endpoint(OTEL_EXPORTER_OTLP_LOGS_ENDPOINT);
        let mut builder = LogExporter::builder().with_tonic();
        if let Some(tls) = tls(&endpoint) {
            builder = builder.with_tls_config(tls);
        }
        let exporter = Reported::new(builder.build()?, "logs", endpoint);
        let provider = SdkLoggerProvider::builder()
            .with_resource(resource(service))
            .with_batch_exporter(exporter)
            .build();
        let layer = OpenTelemetryTracingBridge::new(&provider);
        self.logs = Some(provider);
        Ok(layer.with_filter(of_others(filter)).boxed())
    }

    /// Exports the spans that the filter permits, with the log lines inside of them as their events. A Tokio runtime must be running.
    ///
    /// # Errors
    /// As `export_logs`.
    pub(crate) fn export_traces(
        &mut self,
        service: (&str, &str),
        filter: EnvFilter,
    ) -> Result<Boxed, ExporterBuildError> {
        let endpoint = endpoint(OTEL_EXPORTER_OTLP_TRACES_ENDPOINT);
        let mut builder = SpanExporter::builder().with_tonic();
        if let Some(tls) = tls(&endpoint) {
            builder = builder.with_tls_config(tls);
        }
        let exporter = Reported::new(builder.build()?, "traces", endpoint);
        let provider = SdkTracerProvider::builder()
            .with_resource(resource(service))
            .with_batch_exporter(exporter)
            .build();
        let layer = tracing_opentelemetry::layer()
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_tracer(provider.tracer("lifecycle"));
        self.traces = Some(provider);
        Ok(layer.with_filter(of_others(filter)).boxed())
    }

    /// Sends the queue and ends, within three seconds even if the collector does not answer.
    pub async fn flush(self) {
        // They block, and their connections need the runtime meanwhile.
        let logs = self.logs.map(|logs| {
            let ends = spawn_blocking(move || logs.shutdown_with_timeout(FLUSH));
            ("logs", ends)
        });
        let traces = self.traces.map(|traces| {
            let ends = spawn_blocking(move || traces.shutdown_with_timeout(FLUSH));
            ("traces", ends)
        });
        for (what, ends) in [logs, traces].into_iter().flatten() {
            flushed(what, ends.await);
        }
    }
}

fn flushed(what: &str, ended: Result<OTelSdkResult, JoinError>) {
    let error = match ended {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    tracing::warn!("the last {what} were not exported: {error}");
}

/// The endpoint that the exporter of a signal reads from its variable, or from that of all signals.
fn endpoint(variable: &str) -> String {
    let variables = [variable, OTEL_EXPORTER_OTLP_ENDPOINT];
    let values = variables.iter().map(std::env::var);
    let set = values.flatten().find(|value| !value.is_empty());
    set.unwrap_or_else(|| USUAL_ENDPOINT.to_owned())
}

/// Trusts the certificates of the system. Only for an endpoint with TLS: an image may have none.
fn tls(endpoint: &str) -> Option<ClientTlsConfig> {
    let is_secure = endpoint.starts_with("https:");
    is_secure.then(|| ClientTlsConfig::new().with_native_roots())
}

fn resource((name, version): (&str, &str)) -> Resource {
    let resource = Resource::builder();
    let named = match std::env::var(SERVICE_NAME) {
        Ok(named) if !named.is_empty() => named,
        _ => name.to_owned(),
    };
    resource
        .with_service_name(named)
        .with_attribute(KeyValue::new("service.version", version.to_owned()))
        .build()
}

/// The filter, without the lines of the exporters themselves.
fn of_others(filter: EnvFilter) -> impl Filter<Registry> + Send + Sync {
    let of_others = filter_fn(|line| !OWN.iter().any(|own| line.target().starts_with(own)));
    filter.and(of_others.with_max_level_hint(LevelFilter::TRACE))
}

/// An exporter that reports its outages.
#[derive(Debug)]
struct Reported<E> {
    exporter: E,
    what: &'static str,
    endpoint: String,
    outage: Mutex<Outage>,
}

impl<E> Reported<E> {
    fn new(exporter: E, what: &'static str, endpoint: String) -> Self {
        Self {
            exporter,
            what,
            endpoint,
            outage: Mutex::default(),
        }
    }

    fn report(&self, ended: OTelSdkResult) -> OTelSdkResult {
        let mut outage = self.outage.lock().unwrap_or_else(PoisonError::into_inner);
        let (what, endpoint) = (self.what, &self.endpoint);
        match (outage.after(ended.is_ok(), Instant::now()), &ended) {
            (Some(Report::Failed), Err(error)) => tracing::warn!(
                "{what} cannot be exported to {endpoint}, and are dropped: {error}; see that a collector listens there, or set another endpoint"
            ),
            (Some(Report::Works { lost }), _) => tracing::info!(
                "{what} are exported to {endpoint} again; {lost} batches of them were dropped"
            ),
            (Some(Report::Failed) | None, _) => {}
        }
        ended
    }
}

impl<E: opentelemetry_sdk::logs::LogExporter> opentelemetry_sdk::logs::LogExporter for Reported<E> {
    async fn export(&self, batch: LogBatch<'_>) -> OTelSdkResult {
        self.report(self.exporter.export(batch).await)
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

impl<E: opentelemetry_sdk::trace::SpanExporter> opentelemetry_sdk::trace::SpanExporter
    for Reported<E>
{
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.report(self.exporter.export(batch).await)
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

/// Exports that fail, one after the other.
#[derive(Debug, Default)]
struct Outage {
    lost: u64,
    /// True if this outage was reported.
    is_reported: bool,
    /// When the last report of any was.
    reported: Option<Instant>,
}

/// A line that an export is worth.
#[derive(Debug, PartialEq, Eq)]
enum Report {
    Failed,
    Works { lost: u64 },
}

impl Outage {
    /// The report after an export.
    fn after(&mut self, is_ok: bool, now: Instant) -> Option<Report> {
        if is_ok {
            let lost = std::mem::take(&mut self.lost);
            return std::mem::take(&mut self.is_reported).then_some(Report::Works { lost });
        }
        self.lost += 1;
        let recently = |at: Instant| now.saturating_duration_since(at) < AGAIN;
        if self.reported.is_some_and(recently) {
            return None;
        }
        self.is_reported = true;
        self.reported = Some(now);
        Some(Report::Failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_one_warning_in_ten_minutes_and_one_line_when_it_is_over() {
        let began = Instant::now();
        let mut outage = Outage::default();
        let mut after = |is_ok, seconds| outage.after(is_ok, began + Duration::from_secs(seconds));
        assert_eq!(after(true, 0), None);
        assert_eq!(after(false, 1), Some(Report::Failed));
        assert_eq!(after(false, 2), None);
        assert_eq!(after(false, 600), None);
        assert_eq!(after(false, 601), Some(Report::Failed));
        assert_eq!(after(true, 602), Some(Report::Works { lost: 4 }));
        assert_eq!(after(true, 603), None);
        // An unstable collector is no reason for more reports.
        assert_eq!(after(false, 604), None);
        assert_eq!(after(true, 605), None);
        assert_eq!(after(false, 1201), Some(Report::Failed));
    }

    #[test]
    fn the_certificates_of_the_system_are_read_for_tls_alone() {
        assert!(tls("https://collector:4317").is_some());
        assert!(tls(USUAL_ENDPOINT).is_none());
    }
}
