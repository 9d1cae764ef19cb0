//! Options that choose the API server, for every command that reads a live cluster.

use clap::Args;
use kube::Client;
use lifecycle_client::kube::{Chosen, Error, connect_to};

/// API server to read, and the user who reads it.
#[derive(Clone, Debug, Default, Args)]
#[group(skip)]
pub struct Connection {
    /// Context of the kubeconfig. Without it, its current one.
    #[arg(long, value_name = "CONTEXT")]
    pub context: Option<String>,

    /// Ask as this user, as `kubectl --as` does.
    #[arg(long = "as", value_name = "USER")]
    pub impersonated: Option<String>,
}

impl Connection {
    /// Returns a client for the requested API server, and the default namespace for objects that
    /// name none.
    ///
    /// # Errors
    /// Returns an error if no configuration exists, or if it is unusable.
    pub async fn connect(&self) -> Result<(Client, String), Error> {
        let chosen = Chosen {
            context: self.context.clone(),
            impersonated: self.impersonated.clone(),
        };
        connect_to(&chosen).await
    }
}
