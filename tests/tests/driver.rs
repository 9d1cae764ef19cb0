//! The driver on a real API server: effects, drift, foreign objects, deletion, restarts, and what it costs.

#[path = "driver/widget.rs"]
mod widget;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client, CustomResourceExt};
use lifecycle_runtime::Operator;
use lifecycle_runtime::controller::Counters;
use lifecycle_runtime::shutdown::{Shutdown, Trigger};
use lifecycle_tests::api_server::ApiServer;
use lifecycle_tests::harness::{Need, case, eventually, run};
use serde_json::json;
use widget::{Painter, Widget, WidgetSpec};

const BINARIES: &[Need] = &[Need::Binaries];
const SOON: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    run(vec![case(
        "an_object_becomes_ready_with_two_writes",
        BINARIES,
        becomes_ready,
    )])
}

/// An API server with the definition of Widgets, and an operator of its own user.
struct World {
    server: ApiServer,
    client: Client,
    operator: Option<Running>,
}

struct Running {
    trigger: Trigger,
    counters: Counters,
    task: tokio::task::JoinHandle<Result<(), lifecycle_runtime::operator::Error>>,
}

impl World {
    async fn start() -> Result<Self> {
        let server = ApiServer::start().await?;
        let client = server.client();
        let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
        crds.create(&PostParams::default(), &Widget::crd()).await?;
        eventually("the definition is served", SOON, async || {
            let widgets: Api<Widget> = Api::default_namespaced(client.clone());
            Ok(widgets.list(&Default::default()).await.ok())
        })
        .await?;
        let mut world = Self {
            server,
            client,
            operator: None,
        };
        world.run().await?;
        Ok(world)
    }

    async fn run(&mut self) -> Result<()> {
        let client = self
            .server
            .client_for("operator", &["system:masters"])
            .await?;
        let operator = Operator::new("tests.lifecycle")
            .run(widget::machine(Painter))
            .seed(1);
        let (trigger, shutdown) = Shutdown::pair();
        self.operator = Some(Running {
            trigger,
            counters: operator.counters(),
            task: tokio::spawn(operator.start(client, shutdown)),
        });
        Ok(())
    }

    /// Stops the operator as SIGTERM would.
    async fn stop(mut self) -> Result<()> {
        let running = self.operator.take().context("an operator runs")?;
        let writes = running.counters.read().all_writes();
        running.trigger.stop();
        running.task.await??;
        ensure!(
            running.counters.read().all_writes() == writes,
            "it wrote after its end"
        );
        Ok(())
    }

    fn widgets(&self) -> Api<Widget> {
        Api::default_namespaced(self.client.clone())
    }

    fn maps(&self) -> Api<ConfigMap> {
        Api::default_namespaced(self.client.clone())
    }

    async fn palette(&self, name: &str, colour: &str) -> Result<()> {
        let patch = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": { "colour": colour } });
        self.maps()
            .patch(
                name,
                &PatchParams::apply("test").force(),
                &Patch::Apply(patch),
            )
            .await?;
        Ok(())
    }

    async fn widget(&self, name: &str, palette: &str) -> Result<Widget> {
        let spec = WidgetSpec {
            palette: Some(palette.to_owned()),
            size: 1,
        };
        Ok(self
            .widgets()
            .create(&PostParams::default(), &Widget::new(name, spec))
            .await?)
    }

    /// Waits for a reason of the condition Ready.
    async fn reason(&self, name: &str, reason: &str) -> Result<Widget> {
        let widgets = self.widgets();
        eventually(&format!("{name} is {reason}"), SOON, async || {
            let widget = widgets.get(name).await?;
            let status = widget.status.clone().unwrap_or_default();
            let ready = status.conditions.iter().find(|c| c.type_ == "Ready");
            Ok(ready.is_some_and(|c| c.reason == reason).then_some(widget))
        })
        .await
    }
}

async fn becomes_ready() -> Result<()> {
    let world = World::start().await?;
    world.palette("warm", "red").await?;
    world.widget("a", "warm").await?;
    let widget = world.reason("a", "Ready").await?;
    let status = widget.status.context("a status")?;
    ensure!(status.phase.as_deref() == Some("Ready") && status.made.as_deref() == Some("a"));
    let made = world.maps().get("a").await?;
    ensure!(
        made.data
            .unwrap_or_default()
            .get("colour")
            .map(String::as_str)
            == Some("red")
    );
    let log = world.server.audit().await?.of_user("operator");
    let counts = log.counts();
    ensure!(
        (counts.writes, counts.reads, counts.watches) == (2, 0, 2),
        "{}",
        log.lines()
    );
    world.stop().await
}
