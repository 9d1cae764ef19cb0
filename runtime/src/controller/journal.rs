//! One line of the log for each write and each change of a state. Names alone are in it: no field of an object is. The same line again within ten minutes is
//! for debugging only, so an object that others fight over does not fill the log.

use tokio::time::Instant;

use super::Controller;
use super::in_flight::{Completed, Ended, WriteRecord};
use super::queue::Subject;

impl Controller {
    /// Logs that an object changed its state.
    pub(super) fn log_transition(&mut self, subject: &Subject, (from, to): (&str, &str)) {
        let object = self.object_of(subject);
        self.log_once(&format!("{object} went from {from} to {to}"));
    }

    /// Logs a write that is done. Reports follow from changes of states, and events repeat reports.
    pub(super) fn log_written(&mut self, completed: &Completed) {
        let Some(subject) = &completed.subject else {
            return;
        };
        let object = self.object_of(subject);
        let runner = &self.runners[subject.lifecycle];
        let what = match (&completed.wrote, &completed.ended) {
            (WriteRecord::Effect { effect, plan }, Ended::Write(_)) => {
                let target = plan.name.of_kind(runner.kind_of(plan));
                format!("{} wrote {target}", runner.ir.effects[*effect].name)
            }
            (WriteRecord::Effect { effect, .. }, Ended::Call(_)) => {
                format!("{} was called", runner.ir.effects[*effect].name)
            }
            (WriteRecord::Finalizer { claim: true, .. }, _) => "finalizer added".to_owned(),
            (WriteRecord::Finalizer { claim: false, .. }, _) => "finalizer removed".to_owned(),
            (WriteRecord::Leftover(_), _) => "removed what an older version left".to_owned(),
            (WriteRecord::Status { .. } | WriteRecord::Event, _) => return,
        };
        self.log_once(&format!("{object}: {what}"));
    }

    fn log_once(&mut self, line: &str) {
        match self.log_dedup.is_news(line, Instant::now()) {
            true => tracing::info!("{line}"),
            false => tracing::debug!("{line}"),
        }
    }
}
