//! All controllers of the world by name: the objects that each reconciles after a change, and its
//! operations. Pure: caches in, operations out.

use std::collections::BTreeSet;

use super::World;
use super::cache::{Cache, Change};
use super::kinds::ObjectKey;
use super::operation::Operation;
use super::view::View;
use super::{
    balancers, claims, garbage, jobs, kubelet, mounts, namespaces, nodes, protection, provisioner,
    scheduler, sets, slices, workloads,
};

/// One controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Duty {
    Garbage,
    Namespaces,
    Accounts,
    Nodes,
    Balancers,
    Slices,
    Deployments,
    ReplicaSets,
    ReplicationControllers,
    StatefulSets,
    DaemonSets,
    Jobs,
    Plugins,
    Protection,
    Claims,
    Provisioner,
    Scheduler,
    Kubelet,
}

impl Duty {
    /// Those that are switched on.
    pub(super) fn enabled(world: &World) -> Vec<Self> {
        let on = [
            (Self::Garbage, world.garbage),
            (Self::Namespaces, world.namespaces),
            (Self::Accounts, world.accounts),
            (Self::Nodes, true),
            (Self::Balancers, world.balancers.is_some()),
            (Self::Slices, world.slices),
            (Self::Deployments, world.workloads),
            (Self::ReplicaSets, world.workloads),
            (Self::ReplicationControllers, world.workloads),
            (Self::StatefulSets, world.workloads),
            (Self::DaemonSets, world.workloads),
            (Self::Jobs, world.workloads),
            (Self::Plugins, world.volumes.is_some()),
            (
                Self::Protection,
                world.protection || world.volumes.is_some(),
            ),
            (Self::Claims, world.volumes.is_some()),
            (Self::Provisioner, world.volumes.is_some()),
            (Self::Scheduler, world.scheduler),
            (Self::Kubelet, world.kubelet.is_some()),
        ];
        on.into_iter()
            .filter(|(_, on)| *on)
            .map(|(duty, _)| duty)
            .collect()
    }

    /// Returns the objects that the controller must reconcile after a change.
    pub(super) fn concerned(self, cache: &Cache, change: &Change) -> BTreeSet<ObjectKey> {
        match self {
            Self::Garbage => garbage::concerned(cache, change),
            Self::Namespaces => namespaces::concerned(cache, change),
            Self::Accounts => namespaces::without_account(cache, change),
            Self::Nodes => nodes::concerned(cache, change),
            Self::Balancers => balancers::concerned(change),
            Self::Slices => slices::concerned(cache, change),
            Self::Deployments => workloads::concerned(cache, change, "Deployment"),
            Self::ReplicaSets => workloads::concerned(cache, change, "ReplicaSet"),
            Self::ReplicationControllers => {
                workloads::concerned(cache, change, "ReplicationController")
            }
            Self::StatefulSets => workloads::concerned(cache, change, "StatefulSet"),
            Self::DaemonSets => sets::concerned(cache, change),
            Self::Jobs => workloads::concerned(cache, change, "Job"),
            Self::Plugins => mounts::concerned(change),
            Self::Protection => protection::concerned(change),
            Self::Claims => claims::concerned(cache, change),
            Self::Provisioner => provisioner::concerned(cache, change),
            Self::Scheduler => scheduler::concerned(cache, change),
            Self::Kubelet => kubelet::concerned(cache, change),
        }
    }

    /// Returns the operations for an object.
    pub(super) fn operations(self, view: &View<'_>, key: &ObjectKey) -> Vec<Operation> {
        match self {
            Self::Garbage => garbage::operations(view, key),
            Self::Namespaces => namespaces::operations(view, key),
            Self::Accounts => namespaces::account(view, key),
            Self::Nodes => nodes::operations(view, key),
            Self::Balancers => balancers::operations(view, key),
            Self::Slices => slices::operations(view, key),
            Self::Deployments => workloads::deployment(view, key),
            Self::ReplicaSets | Self::ReplicationControllers => workloads::replica_set(view, key),
            Self::StatefulSets => sets::stateful(view, key),
            Self::DaemonSets => sets::daemons(view, key),
            Self::Jobs => jobs::operations(view, key),
            Self::Plugins => mounts::registered(view, key),
            Self::Protection => protection::operations(view, key),
            Self::Claims => claims::operations(view, key),
            Self::Provisioner => provisioner::operations(view, key),
            Self::Scheduler => scheduler::operations(view, key),
            Self::Kubelet => kubelet::operations(view, key),
        }
    }
}
