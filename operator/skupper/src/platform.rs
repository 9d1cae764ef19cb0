//! Platform of a site, as far as it changes how its Listeners are offered.

/// Platform of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Platform {
    /// A cluster: a Listener is a Service in front of a port of the router.
    #[default]
    Kubernetes,
    /// A machine: the router listens at the host and port of a Listener itself.
    Linux,
}

impl Platform {
    /// As statuses name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kubernetes => "kubernetes",
            Self::Linux => "linux",
        }
    }

    /// Returns true if the router itself listens at hosts and ports of Listeners.
    pub fn binds_host(self) -> bool {
        match self {
            Self::Kubernetes => false,
            Self::Linux => true,
        }
    }
}
