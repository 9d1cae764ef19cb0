//! Observes the subject of a call: reads and probes the inputs of its lifecycle, one after the
//! other. Changes nothing.

use std::sync::Arc;
use std::time::Duration;

use kube::core::ObjectMeta;
use tokio::time::timeout;

use super::cache::CallCache;
use super::context::CallContext;
use super::step_error::StepError;
use crate::code::RpcError;
use lifecycle_runtime::cluster::observe::{Failure, Observed, Observer};
use lifecycle_runtime::lifecycle::call::CallError;
use lifecycle_runtime::lifecycle::{Compared, Observation, Requested, Stored};
use lifecycle_runtime::machine::ir::{Call, Code, Mode};
use lifecycle_runtime::provider::Lane;

/// How long a probe may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

impl CallContext {
    /// Observes the world of a call, with everything read and probed that it needs.
    ///
    /// # Errors
    /// Something cannot be read or probed now, or cannot be decoded.
    pub(super) async fn observe(
        &self,
        call: &'static Call,
        request: &Arc<Requested>,
        cache: &mut CallCache<'_>,
    ) -> Result<Observed, StepError> {
        let subject = stand_in(request);
        loop {
            let observed = Observer {
                machine: &*self.machine,
                subject_kind: None,
                call: Some(call),
                kinds: &self.input_kinds,
                finders: &self.finders,
                naming: &self.naming,
                view: cache,
            }
            .observe_call(Arc::clone(request), Arc::clone(&subject));
            match &observed.failure {
                None => return Ok(observed),
                Some(Failure::Unfetched { input, keys }) => {
                    let made = matches!(self.ir().inputs[*input].mode, Mode::Owned | Mode::Shared);
                    if !(made && cache.assume_absent(*input, keys)) {
                        cache.fetch(*input, keys).await?;
                    }
                }
                Some(Failure::Unprobed { input, key }) => {
                    self.probe(&observed.observation, (*input, key), (request, cache))
                        .await?;
                }
                Some(failure @ Failure::Undecodable { .. }) => {
                    let message = failure.to_string();
                    return Err(RpcError::new(Code::FailedPrecondition, message).into());
                }
                Some(
                    failure @ (Failure::Unreadable(_)
                    | Failure::Unanswered { .. }
                    | Failure::OtherObject { .. }
                    | Failure::OwnerElsewhere { .. }
                    | Failure::NoNamespace { .. }),
                ) => {
                    return Err(RpcError::new(Code::Internal, failure.to_string()).into());
                }
            }
        }
    }

    async fn probe(
        &self,
        observation: &Observation,
        (input, key): (usize, &String),
        (request, cache): (&Requested, &mut CallCache<'_>),
    ) -> Result<(), StepError> {
        let name = self.ir().inputs[input].name;
        let asker = (self.ir().name, volume_of(request));
        let provider = self.providers[input].as_ref();
        let place = cache.turn.take(provider, asker, Lane::Poll)?;
        let Some(probing) = self.machine.poll(observation, input) else {
            let message = format!("`{name}` cannot be probed");
            return Err(RpcError::new(Code::Internal, message).into());
        };
        let answer = timeout(PROBE_TIMEOUT, probing).await;
        if let (Some(place), Ok(answer)) = (&place, &answer) {
            place.record_outcome(answer);
        }
        match answer {
            Ok(Ok(reply)) => {
                cache.probed(input, key.clone(), reply.answer);
                Ok(())
            }
            Ok(Err(error @ (CallError::Failed(_) | CallError::Later { .. }))) => {
                Err(StepError::Retry(error.to_string(), error.after()))
            }
            Ok(Err(CallError::Refused(why))) => Err(RpcError::new(Code::Internal, why).into()),
            Err(_) => {
                let message = format!("`{name}` had no answer in time");
                Err(StepError::Retry(message, None))
            }
        }
    }
}

/// Returns the stand-in for the object in a call. Its uid identifies the contributor to shared
/// objects, which is the volume.
fn stand_in(request: &Requested) -> Arc<Stored> {
    let volume = volume_of(request);
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
        before: None,
        unread: None,
    })
}

/// The volume that a request is about.
pub(super) fn volume_of(request: &Requested) -> &str {
    let volume = [&request.volume_id, &request.name];
    let volume = volume.into_iter().find(|id| !id.is_empty());
    volume.map(String::as_str).unwrap_or_default()
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
