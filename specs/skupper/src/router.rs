//! Known state of a site's router, and the names of its objects. This is plain data. The operator
//! decides how to query a router.

use std::collections::{BTreeMap, BTreeSet};

/// Name of the router's Deployment, ServiceAccount, Role, RoleBinding and ConfigMap.
pub const ROUTER: &str = "skupper-router";
/// Name of the Certificate, and of the Secret, that the router shows inside of its cluster, and of the profile made of it.
pub const LOCAL_SERVER: &str = "skupper-local-server";
/// Name of the Certificate, and of the Secret, of the authority that signs for the inside of the cluster.
pub const LOCAL_CA: &str = "skupper-local-ca";
/// Label on the Pods of any router, with the name of the ConfigMap that it reads.
pub const APPLICATION: &str = "application";
/// Name of the ConfigMap in which the existing router reports its view of the network.
pub const NETWORK_STATUS: &str = "skupper-network-status";
/// Name of the ConfigMap that names the controller of a namespace.
pub const CONTROLLER_CONFIG: &str = "skupper";
/// Name of the Certificate, and of the Secret, of the authority of a Site.
pub const SITE_CA: &str = "skupper-site-ca";
/// Name of the Certificate, and of the Secret, that a Site's router shows to who links to it.
pub const SITE_SERVER: &str = "skupper-site-server";
/// On Pods of the embedded router: the uid of the Site.
pub const SITE: &str = "internal.skupper.io/site";
/// On Services: the name of a Listener that is reached by it.
pub const LISTENER: &str = "internal.skupper.io/listener";

/// State that a router reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouterState {
    /// Why it does not apply the newest configuration.
    pub error: Option<String>,
    /// By kind and name: `tcpListener/listener/backend`.
    pub entries: BTreeMap<String, RouterEntry>,
    /// The routing keys that it knows.
    pub keys: BTreeMap<String, EndpointCounts>,
    /// Connectors and listeners of each of them; failed ones are left out.
    pub services: BTreeMap<String, RouterService>,
    /// Reachable sites, including its own. Empty if the router does not report them.
    pub sites: Vec<RouterSite>,
    /// Reason why the socket state of a listener is unknown, if it is.
    pub sockets_unknown: Option<&'static str>,
}

/// A site of the network, as a router knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouterSite {
    /// The uid of the Site.
    pub id: String,
    /// Its name.
    pub name: Option<String>,
    /// Its namespace.
    pub namespace: Option<String>,
    /// Platform that it runs on.
    pub platform: Option<String>,
    /// The version of its router.
    pub version: Option<String>,
    /// Its links to other sites.
    pub links: Vec<RouterLink>,
    /// Connectors and listeners of each routing key there.
    pub services: BTreeMap<String, RouterService>,
}

/// A link of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouterLink {
    /// Its name.
    pub name: String,
    /// The uid of the other Site.
    pub remote_site_id: Option<String>,
    /// The name of the other Site.
    pub remote_site_name: Option<String>,
    /// True if it is up.
    pub operational: bool,
}

/// Connectors and listeners of a routing key.
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
    /// Hash of the attributes that it has applied.
    pub hash: String,
    /// State of the entry.
    pub state: EntryState,
    /// For a link: the site at its other end, once that site has identified itself.
    pub remote: Option<RemoteSite>,
}

/// The site at the other end of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoteSite {
    /// Its uid.
    pub id: String,
    /// Name of the site, if it reports one.
    pub name: Option<String>,
}

/// State of an entry of a router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// The entry is idle as expected: a listener whose routing key has no connector, or a link that
    /// is being dialled.
    Idle,
    /// The entry works as it should.
    Up,
    /// The entry fails for this reason.
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
    /// Returns true if something serves this key.
    pub fn has_connector(&self, key: &str) -> bool {
        self.keys
            .get(key)
            .is_some_and(|counts| counts.connectors > 0)
    }

    /// Returns true if something offers this key.
    pub fn has_listener(&self, key: &str) -> bool {
        self.keys
            .get(key)
            .is_some_and(|counts| counts.listeners > 0)
    }
}
