//! One API server with the definitions of the tests, and operators on it.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, CustomResourceExt};
use lifecycle_runtime::Operator;
use lifecycle_runtime::controller::Counters;
use lifecycle_runtime::shutdown::{Shutdown, Trigger};
use lifecycle_tests::api_server::{ApiServer, Options};
use lifecycle_tests::audit::Log;
use lifecycle_tests::harness::eventually;
use serde_json::json;

use super::widget::{self, Painter, Widget, WidgetSpec};

pub(crate) const SOON: Duration = Duration::from_secs(60);
/// Long enough for everything that is going to happen by itself.
pub(crate) const SETTLED: Duration = Duration::from_secs(3);
/// Time for which an ended operator is observed.
const AFTERWARDS: Duration = Duration::from_millis(200);

/// An API server, and at most one operator that counts.
pub(crate) struct World {
    pub(crate) server: ApiServer,
    pub(crate) client: Client,
    operator: Option<Running>,
}

/// An operator that runs until it is stopped or dropped.
pub(crate) struct Running {
    trigger: Trigger,
    pub(crate) counters: Counters,
    task: tokio::task::JoinHandle<Result<(), lifecycle_runtime::operator::Error>>,
}

impl Running {
    pub(crate) fn start(operator: Operator, client: Client) -> Self {
        let (trigger, shutdown) = Shutdown::pair();
        Self {
            trigger,
            counters: operator.counters(),
            task: tokio::spawn(operator.start(client, shutdown)),
        }
    }

    /// Stops it as SIGTERM would.
    pub(crate) async fn stop(self) -> Result<()> {
        self.trigger.stop();
        self.task.await??;
        // Running reconciliations have ended with it. A reconciliation that outlived it would
        // write soon.
        let writes = self.counters.read().all_writes();
        tokio::time::sleep(AFTERWARDS).await;
        ensure!(
            self.counters.read().all_writes() == writes,
            "it wrote after its end"
        );
        Ok(())
    }

    /// Stops it as SIGKILL would.
    pub(crate) async fn kill(self) {
        self.task.abort();
        let _ = self.task.await.is_err();
    }
}

impl World {
    /// With an operator of Widgets.
    pub(crate) async fn start() -> Result<Self> {
        let mut world = Self::without_operator().await?;
        world.define(&Widget::crd()).await?;
        world.run().await?;
        Ok(world)
    }

    pub(crate) async fn without_operator() -> Result<Self> {
        Self::with_options(Options::default()).await
    }

    pub(crate) async fn with_options(options: Options) -> Result<Self> {
        let server = ApiServer::start_with(options).await?;
        Ok(Self {
            client: server.client(),
            server,
            operator: None,
        })
    }

    /// Installs a definition and waits until it is served.
    pub(crate) async fn define(&self, crd: &CustomResourceDefinition) -> Result<()> {
        let crds: Api<CustomResourceDefinition> = Api::all(self.client.clone());
        let name = crd
            .metadata
            .name
            .clone()
            .context("a definition has a name")?;
        let patch = Patch::Apply(crd);
        crds.patch(&name, &PatchParams::apply("test").force(), &patch)
            .await?;
        eventually("the definition is served", SOON, async || {
            let crd = crds.get(&name).await?;
            let conditions = crd.status.and_then(|s| s.conditions).unwrap_or_default();
            let is_served = conditions
                .iter()
                .any(|c| c.type_ == "Established" && c.status == "True");
            Ok(is_served.then_some(()))
        })
        .await
    }

    pub(crate) fn operator() -> Operator {
        Operator::new("tests.lifecycle")
            .run(widget::machine(Painter))
            .seed(1)
    }

    /// A client of the operator's user.
    pub(crate) async fn operator_client(&self) -> Result<Client> {
        self.server
            .client_for("operator", &["system:masters"])
            .await
    }

    pub(crate) async fn run(&mut self) -> Result<()> {
        let operator = Self::operator();
        self.run_this(operator).await
    }

    pub(crate) async fn run_this(&mut self, operator: Operator) -> Result<()> {
        let client = self.operator_client().await?;
        self.operator = Some(Running::start(operator, client));
        Ok(())
    }

    pub(crate) fn counters(&self) -> Result<&Counters> {
        Ok(&self.operator.as_ref().context("an operator runs")?.counters)
    }

    pub(crate) async fn stop(&mut self) -> Result<()> {
        self.operator
            .take()
            .context("an operator runs")?
            .stop()
            .await
    }

    pub(crate) async fn kill(&mut self) -> Result<()> {
        self.operator
            .take()
            .context("an operator runs")?
            .kill()
            .await;
        Ok(())
    }

    /// Returns all requests of the operator so far.
    pub(crate) async fn operator_requests(&self) -> Result<Log> {
        Ok(self.server.audit().await?.of_user("operator"))
    }

    /// Nothing but watches for a while.
    pub(crate) async fn is_quiet(&self) -> Result<()> {
        tokio::time::sleep(SETTLED).await;
        let before = self.operator_requests().await?.len();
        tokio::time::sleep(SETTLED).await;
        let after = self.operator_requests().await?;
        ensure!(after.len() == before, "{}", after.lines());
        Ok(())
    }

    pub(crate) fn widgets(&self) -> Api<Widget> {
        Api::default_namespaced(self.client.clone())
    }

    pub(crate) fn maps(&self) -> Api<ConfigMap> {
        Api::default_namespaced(self.client.clone())
    }

    /// Writes a ConfigMap by another manager.
    pub(crate) async fn map(&self, name: &str, data: &[(&str, &str)]) -> Result<ConfigMap> {
        let data: BTreeMap<_, _> = data.iter().copied().collect();
        let patch = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": data });
        let params = PatchParams::apply("test").force();
        Ok(self
            .maps()
            .patch(name, &params, &Patch::Apply(patch))
            .await?)
    }

    pub(crate) async fn palette(&self, name: &str, colour: &str) -> Result<()> {
        self.map(name, &[("colour", colour)]).await.map(drop)
    }

    pub(crate) async fn widget(&self, name: &str, palette: &str) -> Result<Widget> {
        let spec = WidgetSpec {
            palette: Some(palette.to_owned()),
            size: 1,
        };
        let widget = Widget::new(name, spec);
        Ok(self
            .widgets()
            .create(&PostParams::default(), &widget)
            .await?)
    }

    /// Waits for a reason of the condition Ready.
    pub(crate) async fn reason(&self, name: &str, reason: &str) -> Result<Widget> {
        let widgets = self.widgets();
        let found = eventually(&format!("{name} is {reason}"), SOON, async || {
            let widget = widgets.get(name).await?;
            let is_it = condition(&widget, "Ready").is_some_and(|c| c.reason == reason);
            Ok(is_it.then_some(widget))
        })
        .await;
        match found {
            Ok(widget) => Ok(widget),
            Err(error) => {
                let status = self.widgets().get(name).await?.status;
                Err(error.context(format!("its status is {status:?}")))
            }
        }
    }

    /// Waits until the message of the condition Ready contains this text.
    pub(crate) async fn message(&self, name: &str, part: &str) -> Result<Widget> {
        let widgets = self.widgets();
        let found = eventually(&format!("{name} says {part}"), SOON, async || {
            let widget = widgets.get(name).await?;
            let is_it = condition(&widget, "Ready").is_some_and(|c| c.message.contains(part));
            Ok(is_it.then_some(widget))
        })
        .await;
        match found {
            Ok(widget) => Ok(widget),
            Err(error) => {
                let status = self.widgets().get(name).await?.status;
                Err(error.context(format!("its status is {status:?}")))
            }
        }
    }

    /// Applies an object of any built-in kind as the administrator.
    pub(crate) async fn apply<K>(&self, api: Api<K>, object: serde_json::Value) -> Result<K>
    where
        K: kube::Resource + Clone + std::fmt::Debug + serde::de::DeserializeOwned,
    {
        let name = object["metadata"]["name"]
            .as_str()
            .context("a name")?
            .to_owned();
        let params = PatchParams::apply("test").force();
        Ok(api.patch(&name, &params, &Patch::Apply(object)).await?)
    }

    /// Waits until a ConfigMap contains this.
    pub(crate) async fn colour(
        &self,
        name: &str,
        colour: &str,
        limit: Duration,
    ) -> Result<ConfigMap> {
        let maps = self.maps();
        eventually(&format!("{name} is {colour}"), limit, async || {
            let map = maps.get_opt(name).await?;
            let data = map.as_ref().and_then(|m| m.data.as_ref());
            let is_it = data.and_then(|d| d.get("colour")).map(String::as_str) == Some(colour);
            Ok(map.filter(|_| is_it))
        })
        .await
    }

    /// The events about an object, as (type, reason, note).
    pub(crate) async fn events(&self, name: &str) -> Result<Vec<(String, String, String)>> {
        let events: Api<Event> = Api::default_namespaced(self.client.clone());
        let all = events.list(&ListParams::default()).await?;
        let about = |e: &Event| e.regarding.as_ref().and_then(|r| r.name.as_deref()) == Some(name);
        let told = all.into_iter().filter(about).map(|e| {
            let text = |text: Option<String>| text.unwrap_or_default();
            (text(e.type_), text(e.reason), text(e.note))
        });
        Ok(told.collect())
    }
}

pub(crate) fn condition<'a>(widget: &'a Widget, name: &str) -> Option<&'a Condition> {
    let conditions = &widget.status.as_ref()?.conditions;
    conditions.iter().find(|c| c.type_ == name)
}
