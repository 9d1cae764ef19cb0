//! `lifecycle-operator cluster`: a simulated cluster with no operator in it, for any client in any language.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use kube::Client;
use kube::discovery;
use lifecycle_cli::cluster::manifests::{self, Manifest};
use lifecycle_cli::cluster::{self, Cluster, UNUSABLE, complain, print_line, record};
use lifecycle_cli::process::logging;
use lifecycle_runtime::cause;
use lifecycle_runtime::shutdown::Shutdown;
use tokio::time::{sleep, timeout};

use crate::args;

const AGAIN: Duration = Duration::from_millis(20);
/// A definition is served within a moment.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs the cluster until it receives a signal to end, and returns the exit code.
pub(crate) async fn run(options: args::Cluster) -> ExitCode {
    match serve(options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&cause::in_one_line(error.as_ref()));
            ExitCode::from(UNUSABLE)
        }
    }
}

async fn serve(options: args::Cluster) -> anyhow::Result<()> {
    logging::begin_quietly()?;
    let definitions = Manifest::read_all(&options.crds)?;
    check_definitions(&definitions, &options.crds)?;
    let fixtures = Manifest::read_all(&options.apply)?;
    let mut shutdown = Shutdown::on_signals().context("signals cannot be heard")?;
    let recorder = options.record.as_deref().map(record::to).transpose()?;
    let cluster = Cluster::open(cluster::Options {
        seed: options.seed,
        port: options.port,
        kubeconfig: options.kubeconfig.clone(),
        recorder,
        ..cluster::Options::default()
    });
    let cluster = cluster.await?;
    cluster.introduce();
    let inside = async {
        let client = cluster.client();
        manifests::apply(&client, &definitions).await?;
        for definition in &definitions {
            served(&client, definition).await?;
        }
        manifests::apply(&client, &fixtures).await?;
        print_line("ready. Ctrl-C ends it.");
        Ok(())
    };
    let done = tokio::select! {
        biased;
        () = shutdown.wait() => Ok(()),
        prepared = inside => prepared,
    };
    if done.is_ok() {
        shutdown.wait().await;
    }
    cluster.stop().await;
    done
}

/// Checks the definitions, so that an unsuitable object in `--crds` is reported at once, and not
/// later as an unknown kind.
fn check_definitions(definitions: &[Manifest], files: &[PathBuf]) -> anyhow::Result<()> {
    let other = definitions
        .iter()
        .find(|one| one.kind().kind != "CustomResourceDefinition");
    if let Some(other) = other {
        bail!(
            "--crds takes CustomResourceDefinitions, and {} `{}` is none: give its file to --apply",
            other.kind().kind,
            other.name()
        );
    }
    let names: Vec<_> = files
        .iter()
        .map(|file: &PathBuf| Path::new(file).display().to_string())
        .collect();
    if definitions.is_empty() && !files.is_empty() {
        bail!(
            "{}: no CustomResourceDefinition is in there",
            names.join(", ")
        );
    }
    Ok(())
}

/// Waits until a definition is served, as its users would find it.
async fn served(client: &Client, definition: &Manifest) -> anyhow::Result<()> {
    let (spec, name) = (definition.spec(), definition.name());
    let group = spec["group"].as_str().unwrap_or_default().to_owned();
    let kind = spec["names"]["kind"].as_str().unwrap_or_default();
    let found = timeout(PATIENCE, async {
        loop {
            if let Ok(found) = discovery::group(client, &group).await
                && found.recommended_kind(kind).is_some()
            {
                return;
            }
            sleep(AGAIN).await;
        }
    });
    let limit = PATIENCE.as_secs();
    found.await.with_context(|| {
        format!("{name} is not served after {limit} s: check its status with kubectl")
    })
}
