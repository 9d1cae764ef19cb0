//! What is known of a site's router, and what its objects are called. Plain data; how a router is asked is the operator's business.

use std::collections::BTreeMap;

/// Name of the router's Deployment, ServiceAccount, Role, RoleBinding and ConfigMap.
pub const ROUTER: &str = "skupper-router";
/// Name of the Secret with which router and controller know each other, and of the profile made of it.
pub const CREDENTIALS: &str = "skupper-router-state";
/// Name of the ConfigMap that says which controller looks after a namespace.
pub const KEEPER: &str = "skupper";
/// On the router's Pods: the uid of the Site.
pub const SITE: &str = "internal.skupper.io/site";
/// On Services: the name of a Listener that is reached by it.
pub const LISTENER: &str = "internal.skupper.io/listener";

/// What a router tells of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouterState {
    /// Why it does not carry the newest configuration out.
    pub error: Option<String>,
    /// By kind and name: `tcpListener/listener/backend`.
    pub entries: BTreeMap<String, RouterEntry>,
    /// The routing keys that it knows.
    pub keys: BTreeMap<String, Sides>,
}

/// One entry of a router's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterEntry {
    /// Which attributes it carries out.
    pub hash: String,
    /// What it does.
    pub does: Does,
}

/// What an entry of a router does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Does {
    /// Nothing, and rightly: it is a listener whose routing key has no connector.
    Idle,
    /// What it should.
    Up,
    /// Not what it should, because of this.
    Failed(String),
}

/// The two sides of a routing key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sides {
    /// How many connectors can be used.
    pub connectors: usize,
    /// How many listeners name it.
    pub listeners: usize,
}

impl RouterState {
    /// Whether something serves this key.
    pub fn has_connector(&self, key: &str) -> bool {
        self.keys.get(key).is_some_and(|sides| sides.connectors > 0)
    }

    /// Whether something offers this key.
    pub fn has_listener(&self, key: &str) -> bool {
        self.keys.get(key).is_some_and(|sides| sides.listeners > 0)
    }
}
