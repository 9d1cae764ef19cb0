//! Clusters for runs: the simulated server, or anything else that a client can reach.

use std::any::Any;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use http::Request;
use kube::Client;
use serde_json::Value;

use lifecycle_simulator::server::{Content, Server, User};

/// A future of a trait's method.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A cluster for one run.
pub struct Opened {
    pub(crate) client: Client,
    /// Server that can be copied.
    pub(crate) server: Option<Server>,
    /// Dropped when the run is over.
    pub(crate) held: Option<Box<dyn Any + Send>>,
}

impl Opened {
    /// Creates a cluster that nothing else uses until `held` is dropped, which happens at the end
    /// of the run.
    pub fn exclusive(client: Client, held: impl Any + Send) -> Self {
        Self {
            client,
            server: None,
            held: Some(Box::new(held)),
        }
    }
}

impl From<Client> for Opened {
    fn from(client: Client) -> Self {
        Self {
            client,
            server: None,
            held: None,
        }
    }
}

impl From<Server> for Opened {
    fn from(server: Server) -> Self {
        Self {
            client: server.client(&User::admin()),
            server: Some(server),
            held: None,
        }
    }
}

/// Gives clusters for runs.
pub trait Cluster: Send + Sync + 'static {
    /// Returns true if only tokio's clock delays anything on this cluster, so that waiting costs
    /// nothing.
    fn is_simulated(&self) -> bool;

    /// How many runs may go on at the same time.
    fn at_once(&self) -> usize {
        1
    }

    /// Opens a cluster that serves these CustomResourceDefinitions. Runs leave none of their
    /// objects behind. Must be called within the runtime of the run. The client has full
    /// permissions.
    fn open<'a>(&'a self, seed: u64, definitions: &'a [Value])
    -> Later<'a, Result<Opened, String>>;
}

impl<C: Cluster> Cluster for Arc<C> {
    fn is_simulated(&self) -> bool {
        (**self).is_simulated()
    }

    fn at_once(&self) -> usize {
        (**self).at_once()
    }

    fn open<'a>(
        &'a self,
        seed: u64,
        definitions: &'a [Value],
    ) -> Later<'a, Result<Opened, String>> {
        (**self).open(seed, definitions)
    }
}

/// The simulated server, for each run a new one with the same definitions.
#[derive(Debug, Default)]
pub struct Simulated {
    defined: Mutex<Option<(u64, Server)>>,
}

impl Cluster for Simulated {
    fn is_simulated(&self) -> bool {
        true
    }

    fn open<'a>(
        &'a self,
        seed: u64,
        definitions: &'a [Value],
    ) -> Later<'a, Result<Opened, String>> {
        let copy = self.copy(seed, definitions);
        Box::pin(ready(copy.map(Opened::from)))
    }
}

impl Simulated {
    /// A copy of a server with the definitions, which is made once.
    fn copy(&self, seed: u64, definitions: &[Value]) -> Result<Server, String> {
        let mut defined = self.defined.lock().unwrap_or_else(PoisonError::into_inner);
        match &*defined {
            Some((of, server)) if *of == seed => Ok(server.copy()),
            Some(_) | None => {
                let server = Server::new(seed);
                definitions.iter().try_for_each(|d| define(&server, d))?;
                let copy = server.copy();
                *defined = Some((seed, server));
                Ok(copy)
            }
        }
    }
}

fn define(server: &Server, definition: &Value) -> Result<(), String> {
    let all = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let request = Request::post(all)
        .header(http::header::CONTENT_TYPE, "application/json")
        .body(definition.to_string().into_bytes())
        .map_err(|e| e.to_string())?;
    let reply = server.serve(&User::admin(), &request);
    match reply.content {
        Content::Whole(said) if reply.status != 201 => {
            let said = String::from_utf8_lossy(&said).into_owned();
            Err(format!("a definition cannot be installed: {said}"))
        }
        Content::Whole(_) | Content::Watch(_) => Ok(()),
    }
}
