//! The calls of a process without its sockets, for tests on paused time.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use lifecycle_proto::csi;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::Around;
use super::caller::{Asked, Caller};
use super::request::Arrived;
use super::serve::Offered;
use crate::error::Error;
use crate::health::Health;
use crate::lifecycle::{Board, CreatedVolume};
use crate::machine::ir::{Call, Code, Lifecycle, Rpc};
use crate::machine::policy::Class;
use crate::shutdown::Shutdown;

/// A request of the wire.
#[derive(Clone, Debug)]
pub(crate) enum Ask {
    Create(csi::CreateVolumeRequest),
    Delete(csi::DeleteVolumeRequest),
    Validate(csi::ValidateVolumeCapabilitiesRequest),
    Stage(csi::NodeStageVolumeRequest),
    Unstage(csi::NodeUnstageVolumeRequest),
    Publish(csi::NodePublishVolumeRequest),
    Unpublish(csi::NodeUnpublishVolumeRequest),
}

impl Ask {
    pub(crate) fn rpc(&self) -> Rpc {
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

    fn arrived(self) -> Arrived {
        match self {
            Self::Create(request) => request.into(),
            Self::Delete(request) => request.into(),
            Self::Validate(request) => Arrived::from(&request),
            Self::Stage(request) => request.into(),
            Self::Unstage(request) => request.into(),
            Self::Publish(request) => request.into(),
            Self::Unpublish(request) => request.into(),
        }
    }
}

/// How a call went well: the world at its end, by its lifecycle, and what `CreateVolume` answers with.
pub(crate) struct Answered {
    pub(crate) ir: &'static Lifecycle,
    pub(crate) board: Arc<Board>,
    pub(crate) created: Option<CreatedVolume>,
}

/// A lifecycle, and the class of a volume in it.
pub(crate) type Stand = (&'static Lifecycle, Class);

/// A process that serves volume lifecycles to whoever holds it.
pub(crate) struct Direct {
    callers: Vec<Arc<Caller>>,
    /// What it always watches; ends with it.
    standing: JoinSet<()>,
}

impl Direct {
    /// # Errors
    /// A lifecycle cannot be carried out by calls.
    pub(crate) fn new(
        offered: Vec<Offered>,
        client: Option<&Client>,
        (seed, shutdown): (u64, &Shutdown),
    ) -> Result<Self, Error> {
        let around = Around {
            client: client.cloned(),
            seed,
            shutdown: shutdown.clone(),
            health: Health::default(),
        };
        let caller = |(machine, naming, driver): Offered| {
            let made = Caller::new(machine, naming, &driver.reads, &around);
            made.map(Arc::new)
        };
        let callers = offered.into_iter().map(caller).collect::<Result<_, _>>()?;
        Ok(Self {
            callers,
            standing: JoinSet::new(),
        })
    }

    /// The same, with the watches that a process keeps.
    pub(crate) fn watching(mut self, client: &Client, seed: u64) -> Self {
        for caller in &self.callers {
            let (standing, client) = (Arc::clone(&caller.access.standing), client.clone());
            self.standing
                .spawn(async move { standing.run(&client, seed, &Health::default()).await });
        }
        self
    }

    /// What it is declared to answer, if it offers the call.
    pub(crate) fn declares(&self, rpc: Rpc) -> Option<&'static Call> {
        let mut callers = self.callers.iter();
        callers
            .find_map(|caller| caller.declared(rpc))
            .map(|(_, call)| call)
    }

    /// How a volume stands before a call about it.
    pub(crate) async fn stand(&self, ask: Ask) -> Option<Stand> {
        let rpc = ask.rpc();
        let mut callers = self.callers.iter();
        let caller = callers.find(|caller| caller.declared(rpc).is_some())?;
        let looked = caller.look_at(rpc, ask.arrived().requested).await;
        let (_, board) = looked.ok()??;
        let ir = caller.ir();
        Some((ir, ir.classify(&board.world, false)))
    }

    /// Makes a call; its caller gives up after a time.
    ///
    /// # Errors
    /// What the caller is told.
    pub(crate) async fn ask(&self, ask: Ask, limit: Duration) -> Result<Answered, (Code, String)> {
        let rpc = ask.rpc();
        let caller = self.callers.iter().find(|c| c.declared(rpc).is_some());
        let Some(caller) = caller else {
            let said = format!("this process does not offer {rpc:?}");
            return Err((Code::Unimplemented, said));
        };
        let asked = Asked {
            arrived: ask.arrived(),
            limit: Some(Instant::now() + limit),
        };
        match timeout(limit, caller.carry_out(rpc, asked)).await {
            Ok(Ok(board)) => Ok(Answered {
                ir: caller.ir(),
                created: caller.machine().created(&board),
                board,
            }),
            Ok(Err(refused)) => Err((refused.code, refused.sentence)),
            Err(_) => Err((Code::DeadlineExceeded, "the caller gave up".to_owned())),
        }
    }
}
