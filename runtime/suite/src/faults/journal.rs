//! The log of requests, answers and events with virtual times: equal runs have equal logs, to the byte.

use std::fmt::Write;
use std::time::Duration;

/// Everything that went over the lines, in order.
#[derive(Debug, Default)]
pub(super) struct Journal {
    text: String,
    off: bool,
}

impl Journal {
    /// Keeps nothing from now on: for runs that are counted, not compared.
    pub(super) fn stop(&mut self) {
        self.off = true;
    }

    /// Writes one line: time, process, request and text.
    pub(super) fn record(&mut self, at: Duration, process: u32, request: u64, what: &str) {
        if self.off {
            return;
        }
        let (seconds, ms) = (at.as_secs(), at.subsec_millis());
        // Writing into a String cannot fail.
        let _ = writeln!(
            self.text,
            "{seconds}.{ms:03} p{process} #{request} {}",
            what.trim_end()
        );
    }

    pub(super) fn text(&self) -> String {
        self.text.clone()
    }
}
