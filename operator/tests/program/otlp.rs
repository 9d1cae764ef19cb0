//! Exports logs and traces of `lifecycle-operator run` to a small collector that speaks the
//! protocol, beside a simulated cluster. Also covers an operator whose collector does not listen.

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Service;
use kube::api::{Api, DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use lifecycle_proto::csi;
use lifecycle_proto::csi::controller_client::ControllerClient;
use lifecycle_tests::harness::eventually;
use lifecycle_tests::process::Process;
use lifecycle_tests::scraped::free_address;
use lifecycle_tests::volumes::client::{connect, mount};
use opentelemetry_proto::tonic::collector::logs::v1::logs_service_server::{
    LogsService, LogsServiceServer,
};
use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsServiceRequest, ExportLogsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, Span};
use serde_json::json;
use tokio::net::TcpListener;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

use crate::cluster::{PROGRAM, client, started, stop};

/// Nothing that happens at all takes longer.
const SOON: Duration = Duration::from_secs(120);
/// How long a stopped operator may take.
const GRACE: Duration = Duration::from_secs(5);
const VOLUME: &str = "pvc-otlp";

/// Collector that records the data that it receives.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Received>>);

#[derive(Default)]
struct Received {
    logs: Vec<ResourceLogs>,
    spans: Vec<ResourceSpans>,
}

#[tonic::async_trait]
impl LogsService for Collector {
    async fn export(
        &self,
        request: Request<ExportLogsServiceRequest>,
    ) -> Result<Response<ExportLogsServiceResponse>, Status> {
        let logs = request.into_inner().resource_logs;
        self.0.lock().unwrap().logs.extend(logs);
        Ok(Response::new(ExportLogsServiceResponse::default()))
    }
}

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let spans = request.into_inner().resource_spans;
        self.0.lock().unwrap().spans.extend(spans);
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

impl Collector {
    /// Listens on a port of loopback; the endpoint.
    async fn start() -> Result<(Self, String)> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let endpoint = format!("http://{}", listener.local_addr()?);
        let collector = Self::default();
        let server = Server::builder()
            .add_service(LogsServiceServer::new(collector.clone()))
            .add_service(TraceServiceServer::new(collector.clone()));
        tokio::spawn(server.serve_with_incoming(TcpIncoming::from(listener)));
        Ok((collector, endpoint))
    }

    /// A span of this name with this attribute, and its resource.
    fn span(&self, name: &str, attribute: (&str, &str)) -> Option<(Span, Option<Resource>)> {
        let received = self.0.lock().unwrap();
        let spans = received.spans.iter().flat_map(|of| {
            let spans = of.scope_spans.iter().flat_map(|scope| &scope.spans);
            spans.map(|span| (span, &of.resource))
        });
        let (key, value) = attribute;
        let mut found = spans.filter(|(span, _)| {
            span.name == name && text(&span.attributes, key).as_deref() == Some(value)
        });
        found
            .next()
            .map(|(span, resource)| (span.clone(), resource.clone()))
    }

    /// A line of this trace, and its resource.
    fn line(&self, trace: &[u8]) -> Option<(LogRecord, Option<Resource>)> {
        let received = self.0.lock().unwrap();
        let mut lines = received.logs.iter().flat_map(|of| {
            let lines = of.scope_logs.iter().flat_map(|scope| &scope.log_records);
            lines.map(|line| (line, &of.resource))
        });
        let found = lines.find(|(line, _)| line.trace_id == trace);
        found.map(|(line, resource)| (line.clone(), resource.clone()))
    }
}

fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    of_value(found.value.as_ref())
}

fn of_value(value: Option<&AnyValue>) -> Option<String> {
    let Value::StringValue(text) = value?.value.as_ref()? else {
        return None;
    };
    Some(text.clone())
}

/// Starts an operator that exports to this endpoint. Spans are exported at once, log lines after
/// this many milliseconds or at exit.
fn operator(folder: &Path, endpoint: &str, lines_after: &str) -> Result<Process> {
    let socket = format!("unix://{}", folder.join("csi.sock").display());
    let mut command = Command::new(PROGRAM);
    command
        .args(["run", "--disable-leader-election", "--csi-endpoint"])
        .args([
            &socket,
            "--otel-log-exporter-enabled",
            "--otel-trace-exporter-enabled",
        ])
        .arg("controller")
        .env_clear()
        .env("KUBECONFIG", folder.join("kubeconfig"))
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        .env("OTEL_BLRP_SCHEDULE_DELAY", lines_after)
        .env("OTEL_BSP_SCHEDULE_DELAY", "100");
    Process::start("operator", command, folder)
}

/// Creates a Listener as soon as its kind exists, and waits for its Service.
async fn exposed(folder: &Path) -> Result<()> {
    let client = client(&folder.join("kubeconfig")).await;
    let kind = GroupVersionKind::gvk("listeners.stackable.tech", "v1alpha1", "Listener");
    let kind = ApiResource::from_gvk(&kind);
    let listeners: Api<DynamicObject> = Api::default_namespaced_with(client.clone(), &kind);
    let web: DynamicObject = serde_json::from_value(json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1",
        "kind": "Listener",
        "metadata": { "name": "web" },
        "spec": { "className": "cluster-internal", "ports": [{ "name": "http", "port": 8080 }] },
    }))?;
    let created = eventually("a Listener is created", SOON, async || {
        Ok(listeners.create(&PostParams::default(), &web).await.ok())
    });
    created.await?;
    let services: Api<Service> = Api::default_namespaced(client);
    let service = eventually("its Service is created", SOON, async || {
        Ok(services.get_opt("web").await?)
    });
    service.await.map(drop)
}

/// Waits for the spans of a reconcile and of a call that is refused; the latter, with its resource.
async fn traced(folder: &Path, collector: &Collector) -> Result<(Span, Option<Resource>)> {
    exposed(folder).await?;
    let reconcile = eventually("the span of a reconcile", SOON, async || {
        Ok(collector.span("reconcile", ("name", "web")))
    });
    let (reconcile, _) = reconcile.await?;
    let attribute = |key| text(&reconcile.attributes, key).unwrap_or_default();
    ensure!(attribute("kind") == "Listener", "{reconcile:?}");
    ensure!(attribute("namespace") == "default", "{reconcile:?}");
    ensure!(!attribute("outcome").is_empty(), "{reconcile:?}");
    let request = csi::CreateVolumeRequest {
        name: VOLUME.to_owned(),
        volume_capabilities: vec![mount()],
        ..Default::default()
    };
    let channel = connect(&folder.join("csi.sock")).await?;
    let refused = ControllerClient::new(channel).create_volume(request).await;
    ensure!(refused.is_err(), "a volume without a claim was created");
    let call = eventually("the span of a call", SOON, async || {
        Ok(collector.span("csi", ("volume_name", VOLUME)))
    });
    let (call, resource) = call.await?;
    let attribute = |key| text(&call.attributes, key).unwrap_or_default();
    ensure!(attribute("method") == "CreateVolume", "{call:?}");
    ensure!(attribute("code") == "InvalidArgument", "{call:?}");
    Ok((call, resource))
}

fn check_service(resource: Option<Resource>) {
    let attributes = resource.unwrap().attributes;
    let attribute = |key| text(&attributes, key).unwrap_or_default();
    assert_eq!(attribute("service.name"), "lifecycle-operator");
    assert_eq!(attribute("service.version"), env!("CARGO_PKG_VERSION"));
}

#[test]
fn m33_the_traces_of_a_reconcile_and_of_a_call_and_a_line_of_it_reach_a_collector() {
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("kubeconfig");
    let cluster = started(&["--kubeconfig", kubeconfig.to_str().unwrap()]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let work = async {
        let (collector, endpoint) = Collector::start().await?;
        // Lines that come at all are those that the end sends.
        let operator = operator(folder.path(), &endpoint, "3600000")?;
        let traced = traced(folder.path(), &collector).await;
        let traced = traced.with_context(|| operator.log())?;
        let ends = move || operator.terminate(GRACE);
        let ended = tokio::task::spawn_blocking(ends).await??;
        ensure!(ended.success(), "the operator ended with {ended}");
        Ok((collector, traced))
    };
    let worked: Result<_> = runtime.block_on(work);
    assert_eq!(stop(cluster), Some(0));
    let (collector, (call, resource)) = worked.unwrap();
    check_service(resource);
    let (line, resource) = collector.line(&call.trace_id).unwrap();
    check_service(resource);
    assert_eq!(
        (line.severity_text.as_str(), line.severity_number),
        ("INFO", 9)
    );
    let body = of_value(line.body.as_ref()).unwrap();
    assert!(
        body.starts_with("refused: the request names no PersistentVolumeClaim"),
        "{body}"
    );
    assert_eq!(line.span_id, call.span_id);
}

/// Runs an operator that exports to this endpoint until its Listener is exposed and its log is as wanted, and ends it by a signal; its log.
fn run_until_logged(endpoint: &str, is_wanted: impl Fn(&str) -> bool) -> String {
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("kubeconfig");
    let cluster = started(&["--kubeconfig", kubeconfig.to_str().unwrap()]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let work = async {
        let operator = operator(folder.path(), endpoint, "100")?;
        let exposed = exposed(folder.path()).await;
        exposed.with_context(|| operator.log())?;
        let wanted = eventually("the log is as wanted", SOON, async || {
            Ok(is_wanted(&operator.log()).then_some(()))
        });
        wanted.await.with_context(|| operator.log())?;
        let ends = move || operator.terminate(GRACE);
        let ended = tokio::task::spawn_blocking(ends).await??;
        ensure!(ended.success(), "the operator ended with {ended}");
        Ok(())
    };
    let worked: Result<()> = runtime.block_on(work);
    assert_eq!(stop(cluster), Some(0));
    worked.unwrap();
    std::fs::read_to_string(folder.path().join("operator.log")).unwrap()
}

#[test]
fn a_collector_that_does_not_listen_is_one_warning_for_each_and_holds_nothing_up() {
    let endpoint = format!("http://{}", free_address().unwrap());
    let warnings = |log: &str, what: &str| {
        let warning = format!("{what} cannot be exported to {endpoint}");
        let lines = log.lines();
        let found = lines.filter(|line| line.contains("WARN") && line.contains(&warning));
        found.count()
    };
    let log = run_until_logged(&endpoint, |log| {
        warnings(log, "logs") > 0 && warnings(log, "traces") > 0
    });
    assert_eq!(warnings(&log, "logs"), 1, "{log}");
    assert_eq!(warnings(&log, "traces"), 1, "{log}");
}

#[test]
fn a_signal_ends_an_operator_whose_collector_never_answers() {
    // The system accepts connections, but no process reads from them.
    let silent = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let endpoint = format!("http://{}", silent.local_addr().unwrap());
    run_until_logged(&endpoint, |_| true);
}
