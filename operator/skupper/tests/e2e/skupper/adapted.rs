//! The adaptor of this project in place of the existing one, in a namespace that was taken over: a
//! management agent on Python's proton stands in for the router.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Container, Pod, PodSpec};
use kube::ResourceExt;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::site::Site;
use lifecycle_tests::harness::{Case, Need, case};
use lifecycle_tests::process::output;
use lifecycle_tests::proton::PYTHON;
use serde_json::{Value, json};

use super::support::listen;
use super::taken_over::{left_by_existing, managed_by_other, site_message};
use crate::place::{TestEnv, TestNamespace, report};

pub(crate) fn cases() -> Vec<Case> {
    const NEEDS: &[Need] = &[Need::Binaries, Need::ControllerManager, Need::Proton];
    let name = "the_adaptor_of_this_project_replaces_the_existing_one";
    let run = move || async move {
        replaced(TestNamespace::new(TestEnv::shared().await?, name).await?).await
    };
    vec![case(name, NEEDS, run)]
}

const ROUTER: &str = "skupper-router";
/// Label that names the Site of a Pod, which the controller needs to query the Pod.
const SITE: &str = "internal.skupper.io/site";

/// The management agent.
struct Agent {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    port: u16,
}

impl Agent {
    fn start() -> Result<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../router/tests/adaptor/agent.py");
        let mut python = Command::new(PYTHON);
        python
            .arg("-B")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = python.spawn()?;
        let commands = child.stdin.take().context("it reads commands")?;
        let mut answers = BufReader::new(child.stdout.take().context("it answers")?);
        let mut line = String::new();
        answers.read_line(&mut line)?;
        let port = line
            .trim()
            .strip_prefix("port ")
            .context("it names its port")?;
        let port = port.parse()?;
        Ok(Self {
            child,
            commands,
            answers,
            port,
        })
    }

    fn run(&mut self, command: &str) -> Result<String> {
        writeln!(self.commands, "{command}")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        ensure!(!line.starts_with("error"), "{command}: {line}");
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // It may have ended already.
        let _killed = self.child.kill();
        let _ended = self.child.wait();
    }
}

async fn adaptor(place: &TestNamespace, name: &str) -> Result<()> {
    let settings = json!({ "spec": { "settings": { "router-adaptor": name } } });
    place.patch::<Site>("west", settings).await.map(drop)
}

fn template(deployment: &Deployment) -> Option<(&PodSpec, bool)> {
    let template = &deployment.spec.as_ref()?.template;
    let labels = template.metadata.as_ref()?.labels.as_ref()?;
    Some((template.spec.as_ref()?, labels.contains_key(SITE)))
}

/// The Deployment once its Pods are those of the one adaptor or of the other.
async fn deployed(place: &TestNamespace, is_ours: bool) -> Result<Deployment> {
    let what = "the Pods of the router have the adaptor that is asked for";
    let is = |deployment: &Deployment| template(deployment).is_some_and(|(_, is)| is == is_ours);
    place.until::<Deployment>(ROUTER, what, is).await
}

/// Nothing of the existing adaptor is left in the containers, which are the same two and the one before them.
fn has_ours_alone(deployment: &Deployment) -> Result<()> {
    let (spec, _) = template(deployment).context("it has Pods")?;
    let init = spec.init_containers.as_deref().unwrap_or_default();
    let names: Vec<&str> = init
        .iter()
        .chain(&spec.containers)
        .map(|c| c.name.as_str())
        .collect();
    ensure!(
        names == ["config-init", "router", "kube-adaptor"],
        "{names:?}"
    );
    for container in [&init[0], &spec.containers[1]] {
        let image = container.image.as_deref();
        ensure!(image == Some("router:test"), "{image:?}");
        let command = container.command.as_deref().unwrap_or_default();
        ensure!(command == ["/lifecycle-router", "adaptor"], "{command:?}");
    }
    Ok(())
}

/// Runs both containers of the adaptor as specified by their Pod, beside this agent.
async fn run_adaptor(place: &mut TestNamespace, pod: &Pod, agent: &Agent) -> Result<()> {
    let spec = pod.spec.as_ref().context("it has a spec")?;
    let init = spec.init_containers.as_ref().and_then(|all| all.first());
    let init = init.context("nothing is run before the router")?;
    output(&mut place.command(pod, init).await?)?;
    let written = place.certificates().join("skrouterd.json");
    let start: Value = serde_json::from_str(&std::fs::read_to_string(written)?)?;
    ensure!(start.to_string().contains("amqps"), "{start}");
    let is_adaptor = |container: &&Container| container.name == "kube-adaptor";
    let adaptor = spec
        .containers
        .iter()
        .find(is_adaptor)
        .context("it has an adaptor")?;
    let router = format!("--router=127.0.0.1:{}", agent.port);
    place.run_router_as(pod, adaptor, &[&router]).await
}

/// A site of the existing controller is taken over, and gets the adaptor of this project.
async fn replaced(mut place: TestNamespace) -> Result<()> {
    left_by_existing(&place, &["site-plain", "listener-plain"]).await?;
    let pod = place.pod().await?;
    place.set_pod_ready(&pod.name_any(), true).await?;
    listen(&place, "shop", json!({ "routingKey": "shop" })).await?;
    managed_by_other(&place, false).await?;
    let claims = |config: &ConfigMap| {
        config
            .data
            .as_ref()
            .is_some_and(|data| data.contains_key("claims"))
    };
    place
        .until::<ConfigMap>(ROUTER, "it is ours", claims)
        .await?;
    deployed(&place, false).await?;

    adaptor(&place, "another").await?;
    let both = "set it to \"kube-adaptor\" or \"lifecycle-router\"";
    let named = |site: &Site| site_message(site).contains(both);
    place
        .until::<Site>("west", "it names the adaptors", named)
        .await?;

    adaptor(&place, "lifecycle-router").await?;
    has_ours_alone(&deployed(&place, true).await?)?;
    let pod = place
        .pod_of(&format!("application={ROUTER},{SITE}"))
        .await?;
    let mut agent = Agent::start()?;
    run_adaptor(&mut place, &pod, &agent).await?;
    let has_listener = |entities: &Value| !entities["tcpListener"]["listener/shop"].is_null();
    let mut deadline = lifecycle_tests::harness::Deadline::new(crate::place::SOON);
    while !has_listener(&serde_json::from_str(&agent.run("dump")?)?) {
        if deadline.is_over() {
            bail!(
                "the router is not told of the Listener: {}",
                place.router_log()
            );
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    // The existing adaptor cannot report if the socket of a Listener is open, and then has a
    // condition for that; this adaptor reports it.
    agent.run(r#"set tcpListener listener/shop {"operStatus": "up"}"#)?;
    let is_open = |listener: &Listener| {
        let (_, message, conditions) = report(listener);
        let unknown = |row: &String| row.starts_with("SocketOpen");
        message == "OK" && !conditions.iter().any(unknown)
    };
    place
        .until::<Listener>("shop", "its socket is open", is_open)
        .await?;
    // It goes with its Site.
    let status = "skupper-network-status";
    let is_owned = |map: &ConfigMap| {
        map.owner_references()
            .iter()
            .any(|owner| owner.kind == "Site")
    };
    place
        .until::<ConfigMap>(status, "the Site owns it", is_owned)
        .await?;
    place.kill_router()?;
    drop(agent);

    // The controller of these tests knows no image of the existing adaptor but that of a Deployment with it.
    adaptor(&place, "kube-adaptor").await?;
    let asks = |site: &Site| site_message(site).contains("--kube-adaptor-image");
    let what = "it asks for the image";
    place.until::<Site>("west", what, asks).await.map(drop)
}
