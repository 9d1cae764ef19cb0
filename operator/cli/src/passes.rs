//! Decisions of an operator as it works, one line for each reconcile.

use std::sync::Arc;

use lifecycle_runtime::ObjectRef;
use lifecycle_runtime::controller::{Passed, Trace, TraceEvent};
use lifecycle_runtime::machine::ir::Phase;
use tokio::sync::mpsc::UnboundedSender;

/// Decision of one reconcile.
#[derive(Clone, Debug)]
pub struct PassLine {
    /// Path of the lifecycle.
    pub lifecycle: &'static str,
    /// The reconciled object.
    pub of: ObjectRef,
    /// Phase of the object.
    pub phase: Phase,
    /// The state, and why.
    pub line: String,
    /// True if its lifecycle reports readiness.
    pub reports: bool,
}

/// Returns a trace that reports each reconcile.
pub fn observer(heard: UnboundedSender<PassLine>) -> Arc<dyn Trace> {
    Arc::new(Observer { heard })
}

struct Observer {
    heard: UnboundedSender<PassLine>,
}

impl Trace for Observer {
    fn saw(&self, moment: &TraceEvent<'_>) {
        if let TraceEvent::Passed(passed) = moment {
            let (phase, line) = describe_pass(passed);
            // The receiver is closed once the sandbox ends.
            let _unheard = self.heard.send(PassLine {
                lifecycle: passed.lifecycle.path,
                of: passed.object.clone(),
                phase,
                line,
                reports: !passed.lifecycle.ready.from.is_empty(),
            });
        }
    }
}

/// Returns the phase in which a reconcile found its object. Also returns a line with the state, and
/// the reason and message of its last condition.
fn describe_pass(passed: &Passed<'_>) -> (Phase, String) {
    let ir = passed.lifecycle;
    let state = passed.state();
    let conditions = ir.conditions(
        &passed.observation.world,
        passed.observation.message_parts(),
    );
    let why = match (&passed.failure, conditions.last()) {
        (Some(failure), _) => failure.clone(),
        (None, Some(ready)) => reason(&ready.reason, &ready.message),
        (None, None) => String::new(),
    };
    let line = format!("{state:<12}  {why}").trim_end().to_owned();
    (ir.phase(passed.class), line)
}

fn reason(reason: &str, message: &str) -> String {
    if message.is_empty() {
        reason.to_owned()
    } else {
        let message = message.replace('\n', "; ");
        format!("{reason}: {message}")
    }
}
