//! One process of a driver as its operator configures it. Knows nothing of calls and sockets.

pub(crate) mod cache_policy;
pub(crate) mod plugin;
pub(crate) mod usage;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use kube::Resource;
use lifecycle_runtime::lifecycle::Kind;
use serde::de::DeserializeOwned;

use cache_policy::{CachePolicy, Readers, Selection, WatchedKind};
use plugin::Plugin;
use usage::UsageSource;

/// One process of a driver: which services it offers, and where.
#[derive(Clone)]
pub struct Driver {
    pub(crate) plugin: Plugin,
    pub(crate) endpoint: String,
    pub(crate) role: Role,
    pub(crate) cache_policy: CachePolicy,
}

/// Service that the process offers, one of two.
#[derive(Clone)]
pub(crate) enum Role {
    Controller,
    Node(NodeOptions),
}

/// Options that only a process on a node has.
#[derive(Clone)]
pub(crate) struct NodeOptions {
    pub(crate) id: String,
    pub(crate) topology_segments: BTreeMap<String, String>,
    /// Zero: the orchestrator decides.
    pub(crate) max_volumes: u32,
    pub(crate) usage: Option<Arc<dyn UsageSource>>,
    pub(crate) registration: Option<KubeletRegistration>,
}

/// How kubelet finds the driver.
#[derive(Clone, Debug)]
pub(crate) struct KubeletRegistration {
    /// The folder that kubelet watches for drivers.
    pub(crate) folder: PathBuf,
    /// The endpoint on the host, if not as in this process.
    pub(crate) endpoint: Option<PathBuf>,
    /// CSINode in which the node lists drivers, if it is watched.
    pub(crate) csi_node: Option<String>,
}

impl Driver {
    /// The process that makes volumes, at an endpoint: a path, or `unix://` and a path.
    pub fn controller(plugin: Plugin, endpoint: impl Into<String>) -> Self {
        Self {
            plugin: plugin.with_controller(),
            endpoint: endpoint.into(),
            role: Role::Controller,
            cache_policy: CachePolicy::default(),
        }
    }

    /// The process on the node with this id, at an endpoint: a path, or `unix://` and a path.
    pub fn node(plugin: Plugin, endpoint: impl Into<String>, id: impl Into<String>) -> Self {
        Self {
            plugin,
            endpoint: endpoint.into(),
            role: Role::Node(NodeOptions {
                id: id.into(),
                topology_segments: BTreeMap::new(),
                max_volumes: 0,
                usage: None,
                registration: None,
            }),
            cache_policy: CachePolicy::default(),
        }
    }

    fn on_node(mut self, change: impl FnOnce(&mut NodeOptions)) -> Self {
        match &mut self.role {
            Role::Node(node) => change(node),
            Role::Controller => {}
        }
        self
    }

    /// Always watches the objects of a kind that a field selector chooses, such as `spec.nodeName=node-1`; empty: all.
    /// Calls then read them from this cache and send no request.
    #[must_use]
    pub fn watching<K>(mut self, field_selector: impl Into<String>) -> Self
    where
        K: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
        K::Scope: 'static,
    {
        let selection = match field_selector.into() {
            all if all.is_empty() => Selection::All,
            fields => Selection::Fields(fields),
        };
        self.cache_policy.watched.push(WatchedKind {
            kind: Kind::for_type::<K>(),
            selection,
            readers: Readers::AllCalls,
        });
        self
    }

    /// Always watches the objects of a kind, either all or those with this label, for repeated
    /// publish calls. The kubelet keeps publishing volumes that are already published. Every other
    /// call reads the objects with a request, as does a repeated call that finds a change.
    #[must_use]
    pub fn watching_for_repeats<K>(mut self, label: Option<(&str, &str)>) -> Self
    where
        K: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
        K::Scope: 'static,
    {
        let labelled = |(key, value): (&str, &str)| Selection::Label(key.into(), value.into());
        self.cache_policy.watched.push(WatchedKind {
            kind: Kind::for_type::<K>(),
            selection: label.map_or(Selection::All, labelled),
            readers: Readers::Repeats,
        });
        self
    }

    /// Lets a repeated publish call reuse the objects of a kind that were read before, for an hour
    /// at most. Suitable for objects that hardly change while a Pod uses them. If anything else has
    /// changed, the objects are read anew.
    #[must_use]
    pub fn remembering_for_repeats<K>(mut self) -> Self
    where
        K: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
        K::Scope: 'static,
    {
        self.cache_policy
            .remembered_for_repeats
            .push(Kind::for_type::<K>());
        self
    }

    /// Reads and watches an object of a kind by one request, which publishing takes over from staging: for objects that calls wait for.
    #[must_use]
    pub fn watching_on_read<K>(mut self) -> Self
    where
        K: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
        K::Scope: 'static,
    {
        self.cache_policy
            .watched_on_read
            .push(Kind::for_type::<K>());
        self
    }

    /// Makes publish calls reuse the objects of a kind that the stage call has just read. This is
    /// meant for objects that identify the volume.
    #[must_use]
    pub fn reusing_after_stage<K>(mut self) -> Self
    where
        K: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
        K::Scope: 'static,
    {
        self.cache_policy
            .reused_after_stage
            .push(Kind::for_type::<K>());
        self
    }

    /// Adds a topology segment of the node, for volumes that are not reachable from everywhere.
    #[must_use]
    pub fn segment(self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.on_node(|node| {
            node.topology_segments.insert(key.into(), value.into());
        })
    }

    /// Sets the maximum number of volumes on the node.
    #[must_use]
    pub fn max_volumes(self, max: u32) -> Self {
        self.on_node(|node| node.max_volumes = max)
    }

    /// Sets the source of volume usage.
    #[must_use]
    pub fn usage(self, usage: impl UsageSource) -> Self {
        self.on_node(|node| node.usage = Some(Arc::new(usage)))
    }

    /// Registers itself with the kubelet that watches this folder, so that no registrar is needed.
    #[must_use]
    pub fn registers_in(self, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        self.on_node(|node| {
            node.registration = Some(KubeletRegistration {
                folder,
                endpoint: None,
                csi_node: None,
            });
        })
    }

    /// Sets the Kubernetes name of the node, whose CSINode is then watched. If the kubelet no
    /// longer lists the driver there, the driver registers again. This applies only to a driver
    /// that registers itself, and not without a cluster.
    #[must_use]
    pub fn listed_in_csi_node(self, node: impl Into<String>) -> Self {
        let name = node.into();
        self.on_node(|node| {
            if let Some(registration) = &mut node.registration {
                registration.csi_node = Some(name);
            }
        })
    }

    /// Sets the host path of the endpoint for kubelet, if it differs from the path in this process.
    /// It takes effect only if the process registers itself.
    #[must_use]
    pub fn endpoint_on_host(self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        self.on_node(|node| {
            if let Some(registration) = &mut node.registration {
                registration.endpoint = Some(path);
            }
        })
    }
}
