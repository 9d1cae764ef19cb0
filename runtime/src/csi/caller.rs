//! One volume lifecycle wired to its cluster: takes calls in, one after the other for each key, and looks at what they are about.
//! Each call is a task of its own, so that a caller who goes away never cuts an effect short. Says at the start what cannot run.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kube::core::ObjectMeta;
use rand::Rng;
use rand::rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use super::cells::{Access, Cells};
use super::code::Refused;
use super::deadline::waits_until;
use super::drive::Drive;
use super::inflight::{Inflight, Key};
use super::request::Arrived;
use super::staged::Staged;
use super::standing::Standing;
use super::{Around, Reads};
use crate::cluster::index::Finder;
use crate::cluster::observe::{Failure, Observer, Sight};
use crate::error::Error;
use crate::lifecycle::call::CallError;
use crate::lifecycle::{Board, Compared, Kind, Machine, Requested, Stored};
use crate::machine::ir::{Call, Code, Lifecycle, Lookup, Mode, Rpc};
use crate::naming::Naming;
use crate::shutdown::Shutdown;

/// How long a probe may take.
const LONGEST_PROBE: Duration = Duration::from_secs(10);

/// Why a call cannot go on now.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// It is over.
    Refused(Refused),
    /// What was written to is not what it was.
    Again(String),
    /// Something else has to happen first, which wakes the call.
    Waits(String),
    /// It failed, and may go well later.
    Later(String, Option<Duration>),
}

impl From<Refused> for Trouble {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

/// Who asks, and until when.
pub(crate) struct Asked {
    pub(crate) arrived: Arrived,
    pub(crate) limit: Option<Instant>,
}

/// Carries out the calls of one volume lifecycle.
pub(crate) struct Caller {
    pub(super) machine: Arc<dyn Machine>,
    pub(super) naming: Naming,
    pub(super) access: Access,
    /// What staging read, for the publishing that follows.
    pub(super) staged: Staged,
    /// The kind of each input that has one.
    pub(super) of_inputs: Vec<Option<Kind>>,
    finders: Vec<Option<Finder>>,
    inflight: Inflight,
    random: Mutex<Pcg64Mcg>,
    pub(super) shutdown: Shutdown,
}

impl Caller {
    pub(crate) fn new(
        machine: Arc<dyn Machine>,
        naming: Naming,
        reads: &Reads,
        around: &Around,
    ) -> Result<Self, Error> {
        let ir = machine.ir();
        let (mut kinds, mut stores) = (Vec::<Kind>::new(), Vec::new());
        let (mut of_inputs, mut finders) = (Vec::new(), Vec::new());
        for (number, input) in ir.inputs.iter().enumerate() {
            let kind = machine.kind(number);
            if let Some(why) = unsupported(ir, number, kind.as_ref(), around.client.is_some()) {
                let lifecycle = ir.name;
                return Err(Error::Unsupported { lifecycle, why });
            }
            stores.push(kind.as_ref().map(|kind| {
                let known = kinds.iter().position(|k| k.shares_cache(kind));
                known.unwrap_or_else(|| {
                    kinds.push(kind.clone());
                    kinds.len() - 1
                })
            }));
            finders.push(kind.as_ref().map(|kind| Finder {
                input,
                number,
                by_namespace: false,
                namespaced: kind.namespaced,
            }));
            of_inputs.push(kind);
        }
        Ok(Self {
            machine,
            naming,
            access: Access {
                client: around.client.clone(),
                follows: kinds.iter().map(|kind| reads.follows(kind)).collect(),
                lasts: kinds.iter().map(|kind| reads.lasts(kind)).collect(),
                kinds,
                stores,
                standing: Arc::new(Standing::new(reads.watched.clone())),
                cannot_follow: AtomicBool::new(false),
            },
            staged: Staged::default(),
            of_inputs,
            finders,
            inflight: Inflight::default(),
            random: Mutex::new(Pcg64Mcg::seed_from_u64(around.seed)),
            shutdown: around.shutdown.clone(),
        })
    }

    pub(crate) fn ir(&self) -> &'static Lifecycle {
        self.machine.ir()
    }

    pub(crate) fn machine(&self) -> &dyn Machine {
        &*self.machine
    }

    /// What is declared of a call.
    pub(crate) fn declared(&self, rpc: Rpc) -> Option<(usize, &'static Call)> {
        let mut calls = self.ir().calls.iter().enumerate();
        calls.find(|(_, call)| call.rpc == rpc)
    }

    /// Carries a call out to its end, or until its caller goes away and nothing is being changed.
    ///
    /// # Errors
    /// What the caller is to be told.
    pub(crate) async fn carry_out(
        self: &Arc<Self>,
        rpc: Rpc,
        asked: Asked,
    ) -> Result<Arc<Board>, Refused> {
        let Some((number, call)) = self.declared(rpc) else {
            let said = format!("this driver does not offer {rpc:?}");
            return Err(Refused::new(Code::Unimplemented, said));
        };
        asked.arrived.check(call)?;
        if rpc == Rpc::NodePublishVolume && self.declared(Rpc::NodeStageVolume).is_some() {
            staging_is_named(&asked.arrived.requested)?;
        }
        // Dropped with this future: then nobody listens any more.
        let (_listens, alone) = oneshot::channel::<()>();
        let caller = Arc::clone(self);
        let key = asked.arrived.key(call);
        let about = key.join(" ");
        let task = tokio::spawn(async move {
            let opposite = call.opposite.map(|n| caller.ir().calls[n].rpc);
            let turn = caller
                .inflight
                .enter(rpc, Key::new(rpc, opposite, key))
                .await?;
            let began = Instant::now();
            let drive = Drive {
                caller: &caller,
                number,
                call,
                request: Arc::new(asked.arrived.requested),
                until: waits_until(began, call.within, asked.limit),
                turn,
                alone,
                repeats: BTreeMap::new(),
                failures: 0,
            };
            drive.run().await
        });
        let ended = task.await.unwrap_or_else(|_| {
            let said = format!("{rpc:?} ended unexpectedly; its process has more in its log");
            Err(Refused::new(Code::Internal, said))
        });
        match &ended {
            Ok(_) => tracing::debug!(?rpc, about, "done"),
            Err(refused) => {
                tracing::info!(?rpc, about, code = ?refused.code, "refused: {}", refused.sentence);
            }
        }
        ended
    }

    /// Looks once, for questions that change nothing.
    ///
    /// # Errors
    /// Something cannot be read now.
    pub(crate) async fn look_at(
        &self,
        rpc: Rpc,
        requested: Requested,
    ) -> Result<Option<(usize, Arc<Board>)>, Refused> {
        let Some((number, call)) = self.declared(rpc) else {
            return Ok(None);
        };
        let mut cells = Cells::new(&self.access);
        let sight = self.look(call, &Arc::new(requested), &mut cells).await;
        let sight = sight.map_err(|trouble| match trouble {
            Trouble::Refused(refused) => refused,
            Trouble::Again(why) | Trouble::Waits(why) | Trouble::Later(why, _) => {
                Refused::new(Code::Unavailable, why)
            }
        })?;
        Ok(Some((number, sight.board)))
    }

    /// One fresh look, with everything fetched and probed that it needs.
    pub(super) async fn look(
        &self,
        call: &'static Call,
        request: &Arc<Requested>,
        cells: &mut Cells<'_>,
    ) -> Result<Sight, Trouble> {
        let stand_in = stand_in(request);
        loop {
            let sight = Observer {
                machine: &*self.machine,
                subject_kind: None,
                call: Some(call),
                kinds: &self.of_inputs,
                finders: &self.finders,
                naming: &self.naming,
                view: cells,
            }
            .observe_call(Arc::clone(request), Arc::clone(&stand_in));
            match &sight.failure {
                None => return Ok(sight),
                Some(Failure::Unfetched { input, keys }) => {
                    let made = matches!(self.ir().inputs[*input].mode, Mode::Owned | Mode::Shared);
                    if !(made && cells.assume_absent(*input, keys)) {
                        cells.fetch(*input, keys).await?;
                    }
                }
                Some(Failure::Unprobed { input, key }) => {
                    self.probe(&sight.board, (*input, key), cells).await?;
                }
                Some(failure @ Failure::Undecodable { .. }) => {
                    let said = failure.to_string();
                    return Err(Refused::new(Code::FailedPrecondition, said).into());
                }
                Some(
                    failure @ (Failure::Unanswered { .. }
                    | Failure::OtherObject { .. }
                    | Failure::OwnerElsewhere { .. }),
                ) => {
                    return Err(Refused::new(Code::Internal, failure.to_string()).into());
                }
            }
        }
    }

    async fn probe(
        &self,
        board: &Board,
        (input, key): (usize, &String),
        cells: &mut Cells<'_>,
    ) -> Result<(), Trouble> {
        let name = self.ir().inputs[input].name;
        let Some(probing) = self.machine.poll(board, input) else {
            let said = format!("`{name}` cannot be probed");
            return Err(Refused::new(Code::Internal, said).into());
        };
        match timeout(LONGEST_PROBE, probing).await {
            Ok(Ok(reply)) => {
                cells.probed(input, key.clone(), reply.answer);
                Ok(())
            }
            Ok(Err(CallError::Failed(why))) => Err(Trouble::Later(why, None)),
            Ok(Err(CallError::Refused(why))) => Err(Refused::new(Code::Internal, why).into()),
            Err(_) => {
                let said = format!("`{name}` had no answer in time");
                Err(Trouble::Later(said, None))
            }
        }
    }

    pub(super) fn random(&self) -> u64 {
        let random = self.random.lock();
        random.unwrap_or_else(PoisonError::into_inner).next_u64()
    }
}

/// What stands for the object in a call: its uid is who contributes to shared objects, which is the volume.
fn stand_in(request: &Requested) -> Arc<Stored> {
    let volume = [&request.volume_id, &request.name];
    let volume = volume.into_iter().find(|id| !id.is_empty());
    let volume = volume.map(String::as_str).unwrap_or_default();
    let meta = ObjectMeta {
        name: Some(volume.to_owned()),
        uid: Some(contributor(volume)),
        ..ObjectMeta::default()
    };
    let decoded = Err("a call has no object".to_owned());
    Arc::new(Stored {
        meta,
        decoded,
        raw: None,
        compared: Compared::default(),
    })
}

/// A volume's id as the end of a field manager's name, which is short and printable.
fn contributor(volume: &str) -> String {
    let fits = volume.len() <= 63 && volume.bytes().all(|b| b.is_ascii_graphic());
    if fits {
        return volume.to_owned();
    }
    // FNV-1a: the same in every release, for the name stays in managed fields.
    let hash = volume
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    format!("{hash:016x}")
}

fn staging_is_named(request: &Requested) -> Result<(), Refused> {
    if request.staging_target_path.is_empty() {
        let said = "`staging_target_path` is missing, and this driver stages volumes";
        return Err(Refused::new(Code::FailedPrecondition, said));
    }
    Ok(())
}

/// What a declaration may say and calls do not carry out, with what to write instead.
fn unsupported(
    ir: &Lifecycle,
    number: usize,
    kind: Option<&Kind>,
    has_cluster: bool,
) -> Option<String> {
    let input = &ir.inputs[number];
    let name = input.name;
    match (input.mode, kind) {
        (Mode::Probe | Mode::Poll, _) => None,
        (Mode::Record, _) => Some(format!(
            "`{name}` is a record, for which a volume has no object: poll or probe it"
        )),
        (Mode::Watched | Mode::Owned | Mode::Shared | Mode::Part, None) => {
            Some(format!("`{name}` has no kind"))
        }
        (_, Some(_)) if !has_cluster => Some(format!(
            "`{name}` is in a cluster, and this driver was started without one"
        )),
        (_, Some(_)) if input.many => {
            Some(format!("`{name}` is a set: a call fetches single objects"))
        }
        (Mode::Owned | Mode::Shared, Some(_)) if input.owner.is_none() => Some(format!(
            "`{name}` has no owner, for a volume is no object: say `of` an input"
        )),
        (_, Some(kind)) => match input.lookup {
            Lookup::Name(_) if kind.namespaced => Some(format!(
                "`{name}` is found by a name alone and lives in a namespace: find it by ref"
            )),
            Lookup::Name(_) | Lookup::Ref => None,
            Lookup::Names
            | Lookup::Refs
            | Lookup::Labels(_)
            | Lookup::Owner
            | Lookup::Namespace
            | Lookup::Equal
            | Lookup::Key => Some(format!(
                "`{name}` would have to be listed: find it by name or by ref"
            )),
        },
    }
}
