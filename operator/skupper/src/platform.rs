//! What a site runs on, as far as that changes how its Listeners are offered.

/// What a site runs on.
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

    /// Whether the router listens at hosts and ports of Listeners itself.
    pub fn binds_host(self) -> bool {
        match self {
            Self::Kubernetes => false,
            Self::Linux => true,
        }
    }
}
