//! Options of the controller of Skupper sites, as far as they change the obstacles to it.

use std::collections::BTreeSet;

use lifecycle_skupper::namespace::controller_id::ControllerId;
use lifecycle_skupper::router::plane::RouterOptions;
use lifecycle_skupper::secured_access::AccessDefaults;

use crate::plan::Sites;

/// How this controller would run.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    /// Its namespace.
    pub(crate) namespace: String,
    /// Its name there.
    pub(crate) name: String,
    /// Namespaces whose sites it manages; all if there are none.
    pub(crate) watched: BTreeSet<String>,
    /// True if it installs and updates CustomResourceDefinitions.
    pub(crate) maintain_crds: bool,
    /// The choice of routers.
    pub(crate) routers: RouterOptions,
    /// Default access of sites that do not set one.
    pub(crate) access: AccessDefaults,
}

impl Chosen {
    /// By the options.
    pub(crate) fn new(told: &Sites<'_>) -> Self {
        Self {
            namespace: told.namespace.clone(),
            name: told.chosen.controller_name.clone(),
            watched: told.watched.clone(),
            maintain_crds: told.maintain_crds,
            routers: told.chosen.router_options(),
            access: told.chosen.access(),
        }
    }

    /// Returns true if it manages sites of this namespace, unless another controller does.
    pub(crate) fn watches(&self, namespace: &str) -> bool {
        self.watched.is_empty() || self.watched.contains(namespace)
    }

    /// As its own code knows it.
    pub(crate) fn id(&self) -> ControllerId {
        ControllerId::new(&self.namespace, &self.name)
    }

    /// As ConfigMaps name it.
    pub(crate) fn full_name(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}
