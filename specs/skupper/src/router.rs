//! What is known of a site's router, and what its objects are called. Plain data; how a router is asked, the operator decides.

use std::collections::{BTreeMap, BTreeSet};

/// Name of the router's Deployment, ServiceAccount, Role, RoleBinding and ConfigMap.
pub const ROUTER: &str = "skupper-router";
/// Name of the Secret with which router and controller know each other, and of the profile made of it.
pub const CREDENTIALS: &str = "skupper-router-state";
/// Name of the ConfigMap that says which controller manages a namespace.
pub const CONTROLLER_CONFIG: &str = "skupper";
/// On the router's Pods: the uid of the Site.
pub const SITE: &str = "internal.skupper.io/site";
/// On Services: the name of a Listener that is reached by it.
pub const LISTENER: &str = "internal.skupper.io/listener";

/// What a router tells of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouterState {
    /// Why it does not apply the newest configuration.
    pub error: Option<String>,
    /// By kind and name: `tcpListener/listener/backend`.
    pub entries: BTreeMap<String, RouterEntry>,
    /// The routing keys that it knows.
    pub keys: BTreeMap<String, EndpointCounts>,
    /// Who serves and who offers each of them; what has failed is left out.
    pub services: BTreeMap<String, RouterService>,
}

/// Who serves and who offers a routing key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouterService {
    /// The hosts that its connectors lead to.
    pub connectors: BTreeSet<String>,
    /// The names of its listeners.
    pub listeners: BTreeSet<String>,
}

/// One entry of a router's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterEntry {
    /// Which attributes it has applied.
    pub hash: String,
    /// What it does.
    pub state: EntryState,
}

/// What an entry of a router does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// Nothing, and rightly: it is a listener whose routing key has no connector.
    Idle,
    /// What it should.
    Up,
    /// Not what it should, because of this.
    Failed(String),
}

/// How many endpoints a routing key has on its two sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointCounts {
    /// How many connectors can be used.
    pub connectors: usize,
    /// How many listeners name it and can be used.
    pub listeners: usize,
}

impl RouterState {
    /// Whether something serves this key.
    pub fn has_connector(&self, key: &str) -> bool {
        self.keys
            .get(key)
            .is_some_and(|counts| counts.connectors > 0)
    }

    /// Whether something offers this key.
    pub fn has_listener(&self, key: &str) -> bool {
        self.keys
            .get(key)
            .is_some_and(|counts| counts.listeners > 0)
    }
}
