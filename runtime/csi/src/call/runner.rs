//! Takes calls of one volume lifecycle in: those about the same volume one after the other, each as a task of its own, so that a caller who goes
//! away never cuts an effect short.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::time::Instant;
use tracing::field::Empty;
use tracing::{Instrument as _, Span};

use super::cache::CallCache;
use super::context::CallContext;
use super::deadline::waits_until;
use super::locks::{LockKey, VolumeLocks};
use super::request::CallRequest;
use super::run::CallRun;
use super::step_error::StepError;
use crate::code::RpcError;
use crate::error::Error;
use crate::served_volume::ServedVolume;
use lifecycle_runtime::counters::Counters;
use lifecycle_runtime::lifecycle::{Observation, Requested};
use lifecycle_runtime::machine::ir::{Code, Rpc};
use lifecycle_runtime::service::Context;
use lifecycle_runtime::spans::TARGET;

/// Upper bound on the characters of an id or a name in a span, as the interface allows. A longer
/// one is refused.
const MAX_NAME_CHARS: usize = 128;

/// Runs the calls of one volume lifecycle.
pub(crate) struct CallRunner {
    pub(crate) context: Arc<CallContext>,
    locks: VolumeLocks,
    counters: Counters,
}

impl CallRunner {
    /// # Errors
    /// Calls do not support something that the lifecycle declares.
    pub(crate) fn new(served: &ServedVolume, context: &Context) -> Result<Self, Error> {
        let counters = Counters::default();
        context.health.publish(counters.clone());
        Ok(Self {
            context: Arc::new(CallContext::new(served, context)?),
            locks: VolumeLocks::default(),
            counters,
        })
    }

    /// Runs a call to its end, or until its caller goes away and nothing is being changed. The caller gives up at its deadline.
    ///
    /// # Errors
    /// The answer to the caller.
    pub(crate) async fn run(
        &self,
        rpc: Rpc,
        request: CallRequest,
        deadline: Option<Instant>,
    ) -> Result<Arc<Observation>, RpcError> {
        let span = span(rpc, &request.requested);
        let running = self.run_to_end(rpc, request, deadline);
        let ended = running.instrument(span.clone()).await;
        let code = ended.as_ref().err().map(|error| error.code);
        self.counters.called(rpc, code);
        record_code(&span, code);
        ended
    }

    async fn run_to_end(
        &self,
        rpc: Rpc,
        request: CallRequest,
        deadline: Option<Instant>,
    ) -> Result<Arc<Observation>, RpcError> {
        let Some((number, call)) = self.context.declared(rpc) else {
            let message = format!("this driver does not offer {rpc:?}");
            return Err(RpcError::new(Code::Unimplemented, message));
        };
        request.check(call)?;
        if rpc == Rpc::NodePublishVolume && self.context.declared(Rpc::NodeStageVolume).is_some() {
            check_staging_path(&request.requested)?;
        }
        // Dropped with this future: then the caller has gone away.
        let (_listens, cancelled) = oneshot::channel::<()>();
        let (context, locks) = (Arc::clone(&self.context), self.locks.clone());
        let key = request.key(call);
        let about = key.join(" ");
        let task = async move {
            let opposite = call.opposite.map(|n| context.ir().calls[n].rpc);
            let key = LockKey::new(rpc, opposite, key);
            let lock = locks.acquire(rpc, key).await?;
            let began = Instant::now();
            let run = CallRun {
                context: &context,
                number,
                call,
                request: Arc::new(request.requested),
                until: waits_until(began, call.within, deadline),
                lock,
                cancelled,
                repeats: BTreeMap::new(),
                in_line: None,
                failures: 0,
            };
            run.run().await
        };
        let task = tokio::spawn(task.in_current_span());
        let ended = task.await.unwrap_or_else(|_| {
            let message = format!("{rpc:?} ended unexpectedly; its process has more in its log");
            Err(RpcError::new(Code::Internal, message))
        });
        match &ended {
            Ok(_) => tracing::debug!(?rpc, about, "done"),
            Err(error) => {
                tracing::info!(?rpc, about, code = ?error.code, "refused: {}", error.message);
            }
        }
        ended
    }

    /// Observes once, for questions that change nothing.
    ///
    /// # Errors
    /// Something cannot be read now.
    pub(crate) async fn observe(
        &self,
        rpc: Rpc,
        requested: Requested,
    ) -> Result<Option<(usize, Arc<Observation>)>, RpcError> {
        let context = &self.context;
        let Some((number, call)) = context.declared(rpc) else {
            return Ok(None);
        };
        let mut cache = CallCache::new(&context.cluster);
        let request = Arc::new(requested);
        let observed = context.observe(call, &request, &mut cache).await;
        let observed = observed.map_err(|error| match error {
            StepError::Final(error) => error,
            StepError::Conflict(why)
            | StepError::Waiting(why)
            | StepError::InLine(why)
            | StepError::Retry(why, _) => RpcError::new(Code::Unavailable, why),
        })?;
        Ok(Some((number, observed.observation)))
    }
}

/// The span of a call; its code is recorded at the end. A volume has no id before it is created.
fn span(rpc: Rpc, request: &Requested) -> Span {
    let named = |text: &str| {
        let text: String = text.chars().take(MAX_NAME_CHARS).collect();
        (!text.is_empty()).then_some(text)
    };
    tracing::info_span!(
        target: TARGET,
        "csi",
        method = ?rpc,
        volume_id = named(&request.volume_id),
        volume_name = named(&request.name),
        code = Empty,
        otel.kind = "server",
        otel.status_code = Empty,
    )
}

fn record_code(span: &Span, code: Option<Code>) {
    let Some(code) = code else {
        span.record("code", "Ok");
        return;
    };
    span.record("code", tracing::field::debug(code));
    span.record("otel.status_code", "ERROR");
}

fn check_staging_path(request: &Requested) -> Result<(), RpcError> {
    if request.staging_target_path.is_empty() {
        let message = "`staging_target_path` is missing, and this driver stages volumes";
        return Err(RpcError::new(Code::FailedPrecondition, message));
    }
    Ok(())
}
