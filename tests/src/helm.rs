//! Helm with a home of its own, isolated from the settings of the user that runs the test.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::binaries::helm;

/// Helm, for a cluster or for none.
#[derive(Debug)]
pub struct Helm {
    kubeconfig: Option<PathBuf>,
    home: TempDir,
}

impl Helm {
    /// Helm for the cluster of a kubeconfig.
    ///
    /// # Errors
    /// No folder can be made.
    pub fn new(kubeconfig: Option<&Path>) -> Result<Self> {
        Ok(Self {
            kubeconfig: kubeconfig.map(Path::to_owned),
            home: tempfile::tempdir().context("cannot make a folder")?,
        })
    }

    /// Runs it, however that ends.
    ///
    /// # Errors
    /// It is not built, or cannot be run.
    pub fn run(&self, words: &[&str]) -> Result<Output> {
        let home = |name: &str| self.home.path().join(name);
        let mut command = Command::new(helm()?);
        command
            .args(words)
            .env(
                "KUBECONFIG",
                self.kubeconfig.as_deref().unwrap_or(Path::new("/dev/null")),
            )
            .env("HELM_CACHE_HOME", home("cache"))
            .env("HELM_CONFIG_HOME", home("config"))
            .env("HELM_DATA_HOME", home("data"));
        command.output().context("cannot run helm")
    }

    /// Runs Helm and returns its output.
    ///
    /// # Errors
    /// It fails.
    pub fn stdout(&self, words: &[&str]) -> Result<String> {
        let output = self.run(words)?;
        let told = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "helm {}: {told}", words.join(" "));
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Runs it, and returns why it fails.
    ///
    /// # Errors
    /// It does not fail.
    pub fn fail(&self, words: &[&str]) -> Result<String> {
        let output = self.run(words)?;
        ensure!(
            !output.status.success(),
            "helm {} does not fail",
            words.join(" ")
        );
        Ok(String::from_utf8(output.stderr)?)
    }
}
