//! A release on a real cluster by Helm: first of the replaced chart, with containers that do
//! nothing, and then of ours or of the replaced one again.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use lifecycle_tests::cluster::{Cluster, Program, WORKLOAD, csi_provisioner_image, image_of};
use lifecycle_tests::helm::Helm;
use lifecycle_tests::process::output;

use super::operator;
use crate::installed::{Installed, NAMESPACE};

const RELEASE: &str = "listener-operator";

/// As the release that is replaced has it.
const PRESET: &str = "--set=preset=ephemeral-nodes";

/// Two replicas, so that both of their Leases are used.
const TWO: &str = "--set=csiProvisioner.replicas=2";

/// The containers of the replaced release hear no signal.
const GRACE: &str = "--set=grace=1";

/// Nodes may have the startup taint.
const REMOVES: &str = "--set=csiNodeDriver.removeStartupTaint=true";

const WAIT: [&str; 2] = ["--wait", "--timeout=240s"];

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

/// The release on a cluster, and the two charts that it may be of.
pub(super) struct Release {
    pub(super) site: Installed,
    ours: String,
}

impl Release {
    /// Installs the replaced chart.
    pub(super) async fn install() -> Result<Self> {
        let cluster = Cluster::start(1).await?;
        cluster.import(&image_of(Program::Listener, operator())?)?;
        cluster.import(&csi_provisioner_image()?)?;
        let site = Installed { cluster };
        let mut kubectl = site.cluster.kubectl();
        output(kubectl.args(["create", "namespace", NAMESPACE]))?;
        let text = |path: &str| folder(path).display().to_string();
        let release = Self {
            site,
            ours: text("deploy/charts/listener-operator"),
        };
        let replaced = text("operator/tests/charts/replaced/listener-operator");
        let image = format!("--set=image={WORKLOAD}");
        let pauses = "--set-json=args=[\"pause\"]";
        // As Helm 3 did it.
        let by = "--server-side=false";
        release.helm(&["install", RELEASE, &replaced, &image, pauses, GRACE, by])?;
        release.site.is_available().await?;
        Ok(release)
    }

    /// Removes it.
    pub(super) fn uninstall(&self) -> Result<()> {
        self.helm(&["uninstall", RELEASE, "--wait"]).map(drop)
    }

    fn helm(&self, words: &[&str]) -> Result<String> {
        let helm = Helm::new(Some(self.site.cluster.admin_kubeconfig()))?;
        let said = helm.stdout(&[words, &["--namespace", NAMESPACE]].concat());
        said.with_context(|| self.site.describe_pods())
    }

    /// Upgrades to our chart, with more words.
    pub(super) fn upgrade(&self, more: &[&str]) -> Result<()> {
        let upgrade = ["upgrade", RELEASE, &self.ours, TWO, PRESET, REMOVES];
        let words = [&upgrade[..], &WAIT[..], more].concat();
        self.helm(&words).map(drop)
    }

    /// Goes back to the replaced chart.
    pub(super) fn back(&self) -> Result<()> {
        let words = [&["rollback", RELEASE, "1"][..], &WAIT[..]].concat();
        self.helm(&words).map(drop)
    }
}
