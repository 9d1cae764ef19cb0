//! Controllers that run around an API server in a cluster, each small and with a switch. They cover
//! garbage collection, the deletion of namespaces, load balancers, EndpointSlices, workloads, a
//! scheduler, a kubelet, and the creation, mounting and protection of volumes. They use
//! `kube::Client` alone, so that they run against a real API server just as well.

mod balancers;
mod cache;
mod calls;
mod claims;
mod duties;
mod ending;
mod events;
mod garbage;
mod jobs;
mod kinds;
mod kubelet;
mod mounts;
mod namespaces;
mod nodes;
mod object;
mod operation;
mod pods;
mod protection;
mod provisioner;
mod revisions;
mod rpc;
mod run;
mod scheduler;
mod send;
mod sets;
mod slices;
mod sweep;
mod view;
mod volumes;
mod watching;
mod workloads;

use std::time::Duration;

pub use kubelet::{EXIT, READY};
pub use sweep::Sweep;
pub use volumes::Volumes;

/// Controllers that run around an API server.
///
/// # Guarantees
/// It lists each kind once and watches it from then on. Equal events at equal times give equal requests in equal order.
#[derive(Clone, Debug)]
pub struct World {
    garbage: bool,
    namespaces: bool,
    accounts: bool,
    balancers: Option<Duration>,
    balanced_elsewhere: Option<(String, String)>,
    slices: bool,
    workloads: bool,
    scheduler: bool,
    kubelet: Option<Duration>,
    protection: bool,
    volumes: Option<Volumes>,
    nodes: Vec<String>,
    origin: jiff::Timestamp,
}

impl Default for World {
    fn default() -> Self {
        Self::empty()
    }
}

impl World {
    /// Nothing runs.
    pub fn empty() -> Self {
        Self {
            garbage: false,
            namespaces: false,
            accounts: false,
            balancers: None,
            balanced_elsewhere: None,
            slices: false,
            workloads: false,
            scheduler: false,
            kubelet: None,
            protection: false,
            volumes: None,
            nodes: Vec::new(),
            origin: jiff::Timestamp::UNIX_EPOCH,
        }
    }

    /// Everything runs, on two nodes.
    pub fn full() -> Self {
        Self::empty()
            .garbage(true)
            .namespaces(true)
            .accounts(true)
            .balancers(Some(Duration::from_secs(2)))
            .slices(true)
            .workloads(true)
            .scheduler(true)
            .kubelet(Some(Duration::from_secs(1)))
            .protection(true)
            .nodes(["node-1", "node-2"])
    }

    /// Switches the deletion of objects that have lost all their owners: in the background, in the
    /// foreground, or orphaned.
    #[must_use]
    pub fn garbage(mut self, on: bool) -> Self {
        self.garbage = on;
        self
    }

    /// Switches the removal of the content of deleted namespaces, and then of the namespaces.
    #[must_use]
    pub fn namespaces(mut self, on: bool) -> Self {
        self.namespaces = on;
        self
    }

    /// Switches the creation of the ServiceAccount `default` in every namespace. A real API server
    /// accepts no Pod without it.
    #[must_use]
    pub fn accounts(mut self, on: bool) -> Self {
        self.accounts = on;
        self
    }

    /// After how long a Service of type LoadBalancer has an address.
    #[must_use]
    pub fn balancers(mut self, after: Option<Duration>) -> Self {
        self.balancers = after;
        self
    }

    /// A label of Pods: a Service that selects by it gets no address here, for another load balancer leads to such Pods.
    #[must_use]
    pub fn balanced_elsewhere(mut self, label: Option<(&str, &str)>) -> Self {
        self.balanced_elsewhere = label.map(|(key, value)| (key.to_owned(), value.to_owned()));
        self
    }

    /// Switches the updates of EndpointSlices from Services and Pods.
    #[must_use]
    pub fn slices(mut self, on: bool) -> Self {
        self.slices = on;
        self
    }

    /// Switches the controllers of Deployments, ReplicaSets, ReplicationControllers, StatefulSets,
    /// DaemonSets and Jobs, which make Pods and report on them.
    #[must_use]
    pub fn workloads(mut self, on: bool) -> Self {
        self.workloads = on;
        self
    }

    /// Switches the assignment of Pods to nodes.
    #[must_use]
    pub fn scheduler(mut self, on: bool) -> Self {
        self.scheduler = on;
        self
    }

    /// After how long Pods run once they have a node.
    #[must_use]
    pub fn kubelet(mut self, after: Option<Duration>) -> Self {
        self.kubelet = after;
        self
    }

    /// Switches the protection of volumes. A deleted claim goes once no Pod uses it, and a deleted
    /// volume once it is not bound.
    #[must_use]
    pub fn protection(mut self, on: bool) -> Self {
        self.protection = on;
        self
    }

    /// The drivers that make and mount volumes; it is real time that their sockets take.
    #[must_use]
    pub fn volumes(mut self, volumes: Option<Volumes>) -> Self {
        self.volumes = volumes;
        self
    }

    /// Sets the nodes that are created at the start if absent. A node that is deleted later stays
    /// away.
    #[must_use]
    pub fn nodes<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.nodes = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the wall clock at the start, as statuses show it.
    #[must_use]
    pub fn origin(mut self, origin: jiff::Timestamp) -> Self {
        self.origin = origin;
        self
    }

    /// Runs until it is dropped.
    pub async fn run(self, client: kube::Client) {
        run::Runner::new(self, client).run().await;
    }
}

#[cfg(test)]
mod tests;
