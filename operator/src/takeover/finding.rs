//! One thing that an administrator has to know before the operator is replaced, and the choices it depends on.

use jiff::Timestamp;
use lifecycle_listener::args::Preset;

/// The Deployment and the DaemonSet of `deploy/install`.
pub(crate) const DEPLOYMENT: &str = "listener-operator-csi-provisioner";
/// The DaemonSet of `deploy/install`.
pub(crate) const DAEMON_SET: &str = "listener-operator-csi-node-driver";

/// How this operator would run.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    /// Its namespace.
    pub(crate) namespace: String,
    /// The classes that it creates where they are missing.
    pub(crate) preset: Preset,
    /// True if it installs and updates CustomResourceDefinitions.
    pub(crate) maintain_crds: bool,
    /// The folder of kubelet that its DaemonSet names.
    pub(crate) kubelet: String,
    /// Time at which the Lease is judged to be held or expired.
    pub(crate) now: Timestamp,
}

/// Severity of a finding. Blocking findings come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    /// Act on it before this operator is installed.
    Blocks,
    /// It may not be read, so it may block.
    Unread,
    /// It is worth knowing.
    Note,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// How much it matters.
    pub(crate) severity: Severity,
    /// The object, as `Kind namespace/name`.
    pub(crate) object: String,
    /// The fact that was found.
    pub(crate) found: String,
    /// Remedy; empty if no action is necessary.
    pub(crate) todo: String,
}

impl Finding {
    /// Something that has to be done first.
    pub(crate) fn blocks(object: &str, found: impl Into<String>, todo: impl Into<String>) -> Self {
        Self::new(Severity::Blocks, object, found.into(), todo.into())
    }

    /// Something worth knowing.
    pub(crate) fn note(object: &str, found: impl Into<String>, todo: impl Into<String>) -> Self {
        Self::new(Severity::Note, object, found.into(), todo.into())
    }

    /// Objects that may not be read.
    pub(crate) fn unread(object: &str, found: impl Into<String>, todo: impl Into<String>) -> Self {
        Self::new(Severity::Unread, object, found.into(), todo.into())
    }

    fn new(severity: Severity, object: &str, found: String, todo: String) -> Self {
        Self {
            severity,
            object: object.to_owned(),
            found,
            todo,
        }
    }
}
