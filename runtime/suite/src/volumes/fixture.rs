//! What a suite of volumes is given: how a driver starts, and one volume with its Pods and what is around them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use kube::Client;
use lifecycle_csi::Volumes;
use lifecycle_proto::csi;
use lifecycle_runtime::lifecycle::CreatedVolume;
use serde_json::Value;

/// Starts the processes of a driver that works in a folder; they are asked without their sockets.
pub type Start = Arc<dyn Fn(&Path) -> Vec<Volumes> + Send + Sync>;
/// What other controllers do in the cluster meanwhile, such as the one that assigns addresses.
pub type Around = Arc<dyn Fn(Client) -> BoxFuture<'static, ()> + Send + Sync>;
/// What external-provisioner writes down of a volume that was made.
pub type Written = Arc<dyn Fn(&CreatedVolume) -> Vec<Value> + Send + Sync>;

/// One volume and its Pods, and what is around them.
#[derive(Clone)]
pub struct Fixture {
    /// Its name in findings.
    pub name: &'static str,
    /// Definitions, classes, nodes: what stays.
    pub stays: Vec<Value>,
    /// What the volume is for: the claim and the Pods. It is deleted at the end.
    pub goes: Vec<Value>,
    /// What another controller or user owns: it may never be touched.
    pub others: Vec<Value>,
    /// Files of others by their path in the folder.
    pub files: BTreeMap<String, String>,
    /// Folders in which the driver keeps files of its own.
    pub own: Vec<String>,
    /// How the volume is asked for.
    pub create: csi::CreateVolumeRequest,
    /// What external-provisioner writes down of it.
    pub written: Written,
    /// What publishing adds to the context of the volume for each Pod.
    pub pods: Vec<BTreeMap<String, String>>,
    /// What other controllers do meanwhile.
    pub around: Option<Around>,
    /// Only crashes and lost answers, and every call twice: for one more way through what another fixture goes through wholly.
    pub brief: bool,
}
