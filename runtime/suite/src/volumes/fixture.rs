//! Input of a suite of volumes: the start of a driver, and one volume with its Pods and its
//! surroundings.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use kube::Client;
use lifecycle_csi::Volumes;
use lifecycle_proto::csi;
use lifecycle_runtime::lifecycle::CreatedVolume;
use serde_json::Value;

/// Starts the processes of a driver that works in a folder. They are called without their sockets.
pub type Start = Arc<dyn Fn(&Path) -> Vec<Volumes> + Send + Sync>;
/// Work of other controllers in the cluster meanwhile, such as the one that assigns addresses.
pub type Background = Arc<dyn Fn(Client) -> BoxFuture<'static, ()> + Send + Sync>;
/// Objects that external-provisioner writes for a volume that was created.
pub type Written = Arc<dyn Fn(&CreatedVolume) -> Vec<Value> + Send + Sync>;

/// One volume with its Pods and their environment.
#[derive(Clone)]
pub struct Fixture {
    /// Its name in findings.
    pub name: &'static str,
    /// Objects that stay: definitions, classes and nodes.
    pub stays: Vec<Value>,
    /// Objects that use the volume: the claim and the Pods. They are deleted at the end.
    pub goes: Vec<Value>,
    /// Objects owned by another controller or user. They must never be touched.
    pub others: Vec<Value>,
    /// Files of others by their path in the folder.
    pub files: BTreeMap<String, String>,
    /// Folders in which the driver keeps its own files.
    pub own: Vec<String>,
    /// Request that creates the volume.
    pub create: csi::CreateVolumeRequest,
    /// Objects that external-provisioner writes for it.
    pub written: Written,
    /// Entries that publishing adds to the context of the volume for each Pod.
    pub pods: Vec<BTreeMap<String, String>>,
    /// Work of other controllers meanwhile.
    pub around: Option<Background>,
    /// True to run only crashes, lost answers and every call twice. Used for one more path through
    /// code that another fixture covers fully.
    pub brief: bool,
}
