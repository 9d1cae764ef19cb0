//! Helm waits for a Listener in a chart of a user, exactly until it is exposed as last edited.

use std::fs;
use std::process::Output;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use kube::Api;
use lifecycle_specs_listener::listener::Listener;
use lifecycle_tests::harness::{Case, Need, case, eventually};
use lifecycle_tests::helm::Helm;
use tempfile::TempDir;

use crate::PROGRAM;
use crate::listeners::{Cluster, SOON};

const NEEDS: &[Need] = &[Need::Binaries, Need::Helm];

/// Time limit of Helm for an event that must happen.
const PATIENT: &str = "60s";

/// Time that Helm waits for an event that must not happen.
const BRIEF: &str = "3s";

const CHART: &str = "apiVersion: v2\nname: web\nversion: 1.0.0\n";

const LISTENER: &str = "
apiVersion: listeners.stackable.tech/v1alpha1
kind: Listener
metadata:
  name: web
spec:
  className: {{ .Values.class }}
  ports:
    - name: http
      port: {{ .Values.port }}
";

pub(crate) fn cases() -> Vec<Case> {
    vec![case(
        "helm_waits_until_a_listener_is_exposed_as_it_was_edited_last",
        NEEDS,
        waited_for,
    )]
}

/// A chart, and Helm.
struct Release {
    helm: Arc<Helm>,
    listeners: Api<Listener>,
    folder: TempDir,
}

impl Release {
    fn new(cluster: &Cluster) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot make a folder")?;
        let chart = folder.path().join("chart");
        fs::create_dir_all(chart.join("templates"))?;
        fs::write(chart.join("Chart.yaml"), CHART)?;
        fs::write(chart.join("templates/listener.yaml"), LISTENER)?;
        Ok(Self {
            helm: Arc::new(Helm::new(Some(cluster.server.admin_kubeconfig()))?),
            listeners: cluster.namespaced(),
            folder,
        })
    }

    async fn helm(&self, words: &[&str]) -> Result<Output> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let helm = Arc::clone(&self.helm);
        let output = tokio::task::spawn_blocking(move || {
            helm.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
        });
        output.await?
    }

    /// Installs or upgrades, and returns the output of Helm, which reports if its wait succeeded.
    async fn upgrade(&self, class: &str, port: u16, timeout: &str) -> Result<Output> {
        let chart = self.folder.path().join("chart");
        let chart = chart.to_str().context("the folder is a text")?;
        let (class, port) = (format!("class={class}"), format!("port={port}"));
        let values = ["--set", class.as_str(), "--set", port.as_str()];
        let upgrade = ["upgrade", "--install", "web", chart, "--wait", "--timeout"];
        let words = [&upgrade[..], &[timeout], &values[..]].concat();
        self.helm(&words).await
    }

    async fn upgraded(&self, class: &str, port: u16) -> Result<()> {
        let output = self.upgrade(class, port, PATIENT).await?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "helm failed: {said}");
        let listener = self.listeners.get("web").await?;
        let status = listener.status.context("it has a status")?;
        ensure!(status.observed_generation == listener.metadata.generation);
        Ok(())
    }

    /// Checks that Helm gives up, and names this object as the one that it waited for.
    async fn given_up(&self, class: &str, port: u16, timeout: &str) -> Result<()> {
        let output = self.upgrade(class, port, timeout).await?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(!output.status.success(), "helm took it for done");
        ensure!(said.contains("Listener/default/web"), "it says: {said}");
        Ok(())
    }
}

async fn waited_for() -> Result<()> {
    let mut cluster = Cluster::start(PROGRAM).await?;
    let release = Release::new(&cluster)?;
    release.upgraded("cluster-internal", 8080).await?;
    release.given_up("missing", 8080, PATIENT).await?;
    release.upgraded("cluster-internal", 8081).await?;
    cluster.stop_operator()?;
    // The status still reports success, but for the previous generation.
    release.given_up("cluster-internal", 8082, BRIEF).await?;
    cluster.run_operator(&[]).await?;
    release.upgraded("cluster-internal", 8082).await?;
    let output = release.helm(&["uninstall", "web", "--wait"]).await?;
    ensure!(output.status.success(), "helm uninstall failed");
    eventually("the end of the Listener", SOON, async || {
        let listener = release.listeners.get_opt("web").await?;
        Ok(listener.is_none().then_some(()))
    })
    .await
}
