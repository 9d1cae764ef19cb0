//! Calls of a driver process without its sockets, made inside the calling process. Meant for tests
//! on paused time.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use lifecycle_proto::csi;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::call::request::CallRequest;
use crate::call::runner::CallRunner;
use crate::error::Error;
use crate::served_volume::ServedVolume;
use lifecycle_runtime::health::Health;
use lifecycle_runtime::lifecycle::{CreatedVolume, Machine, Observation};
use lifecycle_runtime::machine::ir::{Call, Code, Lifecycle, Rpc};
use lifecycle_runtime::machine::policy::Class;
use lifecycle_runtime::provider::Providers;
use lifecycle_runtime::service::Context;
use lifecycle_runtime::shutdown::Shutdown;

/// A request of the interface.
#[derive(Clone, Debug)]
pub enum CsiRequest {
    /// `CreateVolume`.
    Create(csi::CreateVolumeRequest),
    /// `DeleteVolume`.
    Delete(csi::DeleteVolumeRequest),
    /// `ValidateVolumeCapabilities`.
    Validate(csi::ValidateVolumeCapabilitiesRequest),
    /// `NodeStageVolume`.
    Stage(csi::NodeStageVolumeRequest),
    /// `NodeUnstageVolume`.
    Unstage(csi::NodeUnstageVolumeRequest),
    /// `NodePublishVolume`.
    Publish(csi::NodePublishVolumeRequest),
    /// `NodeUnpublishVolume`.
    Unpublish(csi::NodeUnpublishVolumeRequest),
}

impl CsiRequest {
    /// Returns the kind of the call.
    pub fn rpc(&self) -> Rpc {
        match self {
            Self::Create(_) => Rpc::CreateVolume,
            Self::Delete(_) => Rpc::DeleteVolume,
            Self::Validate(_) => Rpc::ValidateVolumeCapabilities,
            Self::Stage(_) => Rpc::NodeStageVolume,
            Self::Unstage(_) => Rpc::NodeUnstageVolume,
            Self::Publish(_) => Rpc::NodePublishVolume,
            Self::Unpublish(_) => Rpc::NodeUnpublishVolume,
        }
    }

    fn into_call(self) -> CallRequest {
        match self {
            Self::Create(request) => request.into(),
            Self::Delete(request) => request.into(),
            Self::Validate(request) => CallRequest::from(&request),
            Self::Stage(request) => request.into(),
            Self::Unstage(request) => request.into(),
            Self::Publish(request) => request.into(),
            Self::Unpublish(request) => request.into(),
        }
    }
}

/// How a call succeeded.
pub struct CsiResponse {
    /// The lifecycle that answers.
    pub ir: &'static Lifecycle,
    /// Observation of the call at its end.
    pub observation: Arc<Observation>,
    /// Volume in the reply of `CreateVolume`.
    pub created: Option<CreatedVolume>,
}

/// A lifecycle, and the class of a volume in it.
pub type ClassifiedVolume = (&'static Lifecycle, Class);

/// Observation of a volume by a call that has not begun.
pub struct SeenVolume {
    /// Its lifecycle.
    pub machine: Arc<dyn Machine>,
    /// Observation of the call.
    pub observation: Arc<Observation>,
}

/// Driver process that serves volume lifecycles to its holder.
pub struct InProcessDriver {
    runners: Vec<CallRunner>,
    /// Watches that it always keeps. They end with it.
    watches: JoinSet<()>,
}

impl InProcessDriver {
    /// Returns the calls that a process would serve.
    ///
    /// # Errors
    /// Calls do not support something that a lifecycle declares.
    pub fn new(
        volumes: Vec<ServedVolume>,
        client: Option<&Client>,
        (seed, shutdown): (u64, &Shutdown),
    ) -> Result<Self, Error> {
        Self::with_providers(volumes, client, (seed, shutdown), &Providers::default())
    }

    /// The same within the limits of these providers, as [`Volumes::providers`](crate::Volumes::providers) has them.
    ///
    /// # Errors
    /// As `new`, or a limit is set for a provider that nothing names.
    pub fn with_providers(
        volumes: Vec<ServedVolume>,
        client: Option<&Client>,
        (seed, shutdown): (u64, &Shutdown),
        providers: &Providers,
    ) -> Result<Self, Error> {
        let context = Context {
            client: client.cloned(),
            seed,
            shutdown: shutdown.clone(),
            health: Health::default(),
            providers: providers.clone(),
            namespaces: BTreeSet::new(),
        };
        let runners = volumes.iter().map(|one| CallRunner::new(one, &context));
        let runners = runners.collect::<Result<_, _>>()?;
        providers.check().map_err(Error::Provider)?;
        Ok(Self {
            runners,
            watches: JoinSet::new(),
        })
    }

    /// The same, with the watches that a process keeps.
    pub fn watching(mut self, client: &Client, seed: u64) -> Self {
        for runner in &self.runners {
            let watches = Arc::clone(&runner.context.cluster.shared_watches);
            let client = client.clone();
            self.watches
                .spawn(async move { watches.run(&client, seed, &Health::default()).await });
        }
        self
    }

    /// Returns the declaration of a call, if the process offers the call.
    pub fn declared(&self, rpc: Rpc) -> Option<&'static Call> {
        let mut runners = self.runners.iter();
        let declared = runners.find_map(|runner| runner.context.declared(rpc));
        declared.map(|(_, call)| call)
    }

    /// Classifies the volume that a request is about, and changes nothing.
    pub async fn classify(&self, request: CsiRequest) -> Option<ClassifiedVolume> {
        let seen = self.observe(request).await?;
        let ir = seen.machine.ir();
        Some((ir, ir.classify(&seen.observation.world, false)))
    }

    /// Observes the volume of a request as its call would, without any change. Returns `None` if
    /// the volume cannot be observed, or no lifecycle has such a call.
    pub async fn observe(&self, request: CsiRequest) -> Option<SeenVolume> {
        let rpc = request.rpc();
        let runner = self.runner(rpc)?;
        let observed = runner.observe(rpc, request.into_call().requested).await;
        let (_, observation) = observed.ok()??;
        Some(SeenVolume {
            machine: runner.context.shared_machine(),
            observation,
        })
    }

    /// Makes a call; its caller gives up after a time.
    ///
    /// # Errors
    /// The answer to the caller.
    pub async fn call(
        &self,
        request: CsiRequest,
        limit: Duration,
    ) -> Result<CsiResponse, (Code, String)> {
        let rpc = request.rpc();
        let Some(runner) = self.runner(rpc) else {
            let message = format!("this process does not offer {rpc:?}");
            return Err((Code::Unimplemented, message));
        };
        let deadline = Some(Instant::now() + limit);
        match timeout(limit, runner.run(rpc, request.into_call(), deadline)).await {
            Ok(Ok(observation)) => Ok(CsiResponse {
                ir: runner.context.ir(),
                created: runner.context.machine().created(&observation),
                observation,
            }),
            Ok(Err(error)) => Err((error.code, error.message)),
            Err(_) => Err((Code::DeadlineExceeded, "the caller gave up".to_owned())),
        }
    }

    fn runner(&self, rpc: Rpc) -> Option<&CallRunner> {
        let mut runners = self.runners.iter();
        runners.find(|runner| runner.context.declared(rpc).is_some())
    }
}
