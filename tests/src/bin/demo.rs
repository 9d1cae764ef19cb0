//! `demo`: takes the manifests of Listeners to Ready on a real API server and says how to look at them; the command that the README begins with.
//! Starts and stops everything itself and leaves nothing behind.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use futures::TryStreamExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use lifecycle_operator::args::Preset;
use lifecycle_operator::{cluster_domain, wiring};
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_specs::listener::Listener;
use lifecycle_specs::listener_class::ListenerClass;
use lifecycle_tests::api_server::{ApiServer, Options};
use lifecycle_tests::binaries;
use lifecycle_tests::harness::eventually;

/// Apply manifests to a Kubernetes API server on loopback, run the operator against it, and follow each Listener until it is Ready.
///
/// Needs Go 1.26; the first time it builds etcd and Kubernetes 1.36, which takes about five minutes.
#[derive(Parser)]
#[command(name = "demo")]
struct Arguments {
    /// YAML or JSON files, as for `kubectl apply -f`.
    #[arg(required = true)]
    manifests: Vec<PathBuf>,
    /// Stop once every Listener is Ready: exit 0 then, and 1 with the reasons when the time is over.
    #[arg(long)]
    once: bool,
    /// How long `--once` waits, in seconds.
    #[arg(long, default_value_t = 60)]
    timeout: u64,
}

fn main() -> ExitCode {
    match demonstrate(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(format_args!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn demonstrate(arguments: &Arguments) -> Result<()> {
    for manifest in &arguments.manifests {
        ensure!(manifest.exists(), "{} does not exist", manifest.display());
    }
    binaries::build(&mut |line| say(format_args!("{line}")))?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start a runtime")?;
    runtime.block_on(async {
        let server = ApiServer::start_with(Options::default().with_controllers()).await?;
        let (trigger, shutdown) = Shutdown::pair();
        let client = server.client_for("operator", &["system:masters"]).await?;
        let operator = tokio::spawn(wiring::run_controller(client, controller(), shutdown));
        let shown = show(arguments, &server).await;
        trigger.stop();
        operator.await.context("the operator panicked")??;
        shown
    })
}

fn controller() -> wiring::Controller {
    wiring::Controller {
        cluster_domain: cluster_domain::resolve(None),
        maintain_crds: true,
        preset: Preset::EphemeralNodes,
        leadership: None,
    }
}

async fn show(arguments: &Arguments, server: &ApiServer) -> Result<()> {
    let client = server.client();
    let classes: Api<ListenerClass> = Api::all(client.clone());
    let first = || classes.get_opt("external-stable");
    let limit = Duration::from_secs(120);
    eventually("the preset classes", limit, async || {
        Ok(first().await.ok().flatten())
    })
    .await?;
    let mut apply = server.kubectl();
    apply.arg("apply");
    for manifest in &arguments.manifests {
        apply.arg("-f").arg(manifest);
    }
    let applied = apply.status().context("cannot run kubectl")?;
    ensure!(applied.success(), "kubectl did not accept the manifests");
    if arguments.once {
        let limit = Duration::from_secs(arguments.timeout);
        let mut last = BTreeMap::new();
        return match tokio::time::timeout(limit, follow(client, &mut last)).await {
            Ok(followed) => followed,
            Err(_) => bail!(
                "not Ready within {} s: {}",
                arguments.timeout,
                unready(&last)
            ),
        };
    }
    follow(client, &mut BTreeMap::new()).await?;
    say(format_args!("\n{}", how_to_look(server)));
    tokio::signal::ctrl_c()
        .await
        .context("cannot wait for Ctrl-C")
}

/// Prints each change of each Listener until all are Ready.
async fn follow(client: Client, last: &mut BTreeMap<String, (String, bool)>) -> Result<()> {
    let listeners: Api<Listener> = Api::all(client.clone());
    let total = listeners.list(&Default::default()).await?.items.len();
    ensure!(total > 0, "the manifests contain no Listener");
    let mut changes = pin!(
        watcher(listeners, watcher::Config::default())
            .default_backoff()
            .applied_objects()
    );
    while let Some(listener) = changes.try_next().await? {
        let name = format!(
            "{}/{}",
            listener.namespace().unwrap_or_default(),
            listener.name_any()
        );
        let (now, is_ready) = summary(&listener);
        if last.get(&name).map(|(before, _)| before) != Some(&now) {
            say(format_args!("{name}: {now}"));
        }
        last.insert(name, (now, is_ready));
        if last.len() == total && last.values().all(|(_, is_ready)| *is_ready) {
            return Ok(());
        }
    }
    bail!("the API server ended the watch")
}

/// What a Listener says of itself, in one line, and whether it is Ready.
fn summary(listener: &Listener) -> (String, bool) {
    let status = listener.status.clone().unwrap_or_default();
    let conditions = status.conditions.unwrap_or_default();
    let Some(ready) = conditions.iter().find(|c| c.type_ == "Ready") else {
        return ("created".to_owned(), false);
    };
    let is_ready = ready.status == "True";
    let addresses = status.ingress_addresses.unwrap_or_default();
    let addresses: Vec<_> = addresses.iter().map(|a| a.address.as_str()).collect();
    let said = match is_ready {
        true => format!("Ready at {}", addresses.join(", ")),
        false => why(ready),
    };
    (said, is_ready)
}

fn why(ready: &Condition) -> String {
    let phase = if ready.status == "False" {
        "Error"
    } else {
        "Pending"
    };
    match ready.message.as_str() {
        "" => format!("{phase}, {}", ready.reason),
        message => format!("{phase}, {}: {message}", ready.reason),
    }
}

fn unready(last: &BTreeMap<String, (String, bool)>) -> String {
    let unready = last.iter().filter(|(_, (_, is_ready))| !is_ready);
    let lines: Vec<_> = unready
        .map(|(name, (now, _))| format!("{name}: {now}"))
        .collect();
    if lines.is_empty() {
        "nothing was seen".to_owned()
    } else {
        lines.join("; ")
    }
}

fn how_to_look(server: &ApiServer) -> String {
    let kubectl = server.kubectl();
    let (program, kubeconfig) = (
        kubectl.get_program().display(),
        server.admin_kubeconfig().display(),
    );
    format!(
        "Look around in another terminal:\n\n  export KUBECONFIG={kubeconfig}\n  alias kubectl={program}\n  \
         kubectl get listeners,services\n  kubectl describe listener\n  kubectl get listenerclasses\n\n\
         There are no nodes and no Pods here. Ctrl-C stops everything and removes it."
    )
}

fn say(line: fmt::Arguments<'_>) {
    // With standard output closed there is nobody left to tell.
    let _unheard = writeln!(io::stdout(), "{line}");
}
