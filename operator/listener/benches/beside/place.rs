//! Place in which the subjects run: a real API server, or the simulated one on a port. Both count
//! the requests of each user.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use jiff::Timestamp;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::PostParams;
use kube::runtime::conditions::is_crd_established;
use kube::runtime::wait::await_condition;
use kube::{Api, Client};
use lifecycle_runtime::shutdown::{Shutdown, Trigger};
use lifecycle_simulator::http;
use lifecycle_simulator::server::Recorded;
use lifecycle_simulator::{Server, User};
use lifecycle_specs_listener::crds;
use lifecycle_tests::api_server::ApiServer;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpListener;

/// User name of the measured process.
const USER: &str = "measured";

/// An API server with the kinds of the operator and nothing else.
pub(crate) struct BenchServer {
    server: Either,
    /// Client of the measurement itself.
    pub(crate) client: Client,
    /// For who is measured.
    pub(crate) kubeconfig: PathBuf,
}

enum Either {
    Real(Box<ApiServer>),
    Simulated {
        asked: Arc<Mutex<Vec<Timestamp>>>,
        _folder: TempDir,
        _stopped_at_the_end: Trigger,
    },
}

impl BenchServer {
    pub(crate) async fn start(real: bool) -> Result<Self> {
        let place = match real {
            true => Self::real().await?,
            false => Self::simulated().await?,
        };
        let definitions: Api<CustomResourceDefinition> = Api::all(place.client.clone());
        for definition in crds() {
            let params = PostParams::default();
            let name = definition.metadata.name.clone().unwrap_or_default();
            definitions.create(&params, &definition).await?;
            await_condition(definitions.clone(), &name, is_crd_established()).await?;
        }
        Ok(place)
    }

    async fn real() -> Result<Self> {
        let server = ApiServer::start().await?;
        Ok(Self {
            client: server.client(),
            kubeconfig: server.kubeconfig(USER, &["system:masters"])?,
            server: Either::Real(Box::new(server)),
        })
    }

    async fn simulated() -> Result<Self> {
        let (trigger, mut shutdown) = Shutdown::pair();
        let server = Server::new(1);
        server.set_clock(Timestamp::now());
        let client = server.client(&User::admin());
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "measured",
            "clusters": [{ "name": "measured", "cluster": { "server": format!("http://{}", listener.local_addr()?) } }],
            "users": [{ "name": "measured", "user": { "as": USER } }],
            "contexts": [{ "name": "measured", "context": { "cluster": "measured", "user": "measured" } }],
        });
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("kubeconfig");
        std::fs::write(&path, kubeconfig.to_string()).context("cannot write a kubeconfig")?;
        let asked = Arc::<Mutex<Vec<Timestamp>>>::default();
        let (counted, door) = (asked.clone(), http::AccessOptions::default());
        let count = move |recorded: &Recorded| {
            if recorded.user == USER {
                let mut counted = counted.lock().unwrap_or_else(PoisonError::into_inner);
                counted.push(Timestamp::now());
            }
        };
        let stop = async move { shutdown.wait().await };
        let serve = http::serve_recorded(listener, (server, door), Some(Arc::new(count)), stop);
        tokio::spawn(serve);
        Ok(Self {
            client,
            kubeconfig: path,
            server: Either::Simulated {
                asked,
                _folder: folder,
                _stopped_at_the_end: trigger,
            },
        })
    }

    /// Returns the times of its requests, in order; a watch counts as one request.
    pub(crate) async fn request_times(&self) -> Result<Vec<Timestamp>> {
        match &self.server {
            Either::Real(server) => {
                let log = server.audit().await?.of_user(USER);
                Ok(log.iter().map(|entry| entry.received).collect())
            }
            Either::Simulated { asked, .. } => {
                let asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(asked.clone())
            }
        }
    }
}
