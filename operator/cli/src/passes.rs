//! What an operator decides, a line for each pass, as it works.

use std::sync::Arc;

use lifecycle_runtime::ObjectRef;
use lifecycle_runtime::controller::{Passed, Trace, TraceEvent};
use lifecycle_runtime::machine::ir::Phase;
use tokio::sync::mpsc::UnboundedSender;

/// What a pass decided.
#[derive(Clone, Debug)]
pub(crate) struct PassLine {
    /// Of which lifecycle, by its path.
    pub(crate) lifecycle: &'static str,
    /// Of which object.
    pub(crate) of: ObjectRef,
    /// Where it is.
    pub(crate) phase: Phase,
    /// The state, and why.
    pub(crate) line: String,
    /// Whether its lifecycle reports whether it is Ready.
    pub(crate) reports: bool,
}

/// Tells of each pass.
pub(crate) fn observer(heard: UnboundedSender<PassLine>) -> Arc<dyn Trace> {
    Arc::new(Observer { heard })
}

struct Observer {
    heard: UnboundedSender<PassLine>,
}

impl Trace for Observer {
    fn saw(&self, moment: &TraceEvent<'_>) {
        if let TraceEvent::Passed(passed) = moment {
            let (phase, line) = told(passed);
            // Nobody listens any more once the sandbox ends.
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

/// Where a pass found its object: the state, and the reason and sentence of its last condition.
pub fn told(passed: &Passed<'_>) -> (Phase, String) {
    let ir = passed.lifecycle;
    let state = passed.state();
    let conditions = ir.conditions(&passed.observation.world, passed.observation.said());
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
