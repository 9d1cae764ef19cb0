//! Subjects of the measurement: our operator, and its alternatives.

use anyhow::Result;
use kube::Client;
use lifecycle_cli::process::cluster_domain::ClusterDomain;
use lifecycle_listener::controller::{NAME, lifecycles};
use lifecycle_runtime::Operator;
use lifecycle_runtime::shutdown::Shutdown;

use super::{floor, plain};

/// One that makes Services of Listeners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    /// Only the indispensable requests.
    Floor,
    /// The lifecycle.
    Ours,
    /// A `Controller` of kube-rs.
    Plain,
    /// Its parts, put together so that everything watched is read from caches.
    Cached,
}

impl Subject {
    pub(crate) const ALL: [Self; 4] = [Self::Floor, Self::Ours, Self::Plain, Self::Cached];

    /// Its word on the command line and in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::Ours => "ours",
            Self::Plain => "plain",
            Self::Cached => "cached",
        }
    }

    /// Runs until its shutdown, or for ever.
    ///
    /// # Errors
    /// It cannot go on.
    pub(crate) async fn run(self, client: Client) -> Result<()> {
        let domain = ClusterDomain::usual();
        let inside = domain.to_string();
        match self {
            Self::Floor => floor::run(client, inside).await?,
            Self::Plain => plain::run(client, inside).await,
            Self::Cached => plain::run_cached(client, inside).await,
            Self::Ours => {
                let mut operator = Operator::new(NAME);
                for (machine, naming) in lifecycles(&domain) {
                    operator = operator.run_shared(machine, naming);
                }
                let (_trigger, shutdown) = Shutdown::pair();
                operator.start(client, shutdown).await?;
            }
        }
        Ok(())
    }
}
