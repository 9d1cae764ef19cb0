//! What turns at providers bring to the loop, and who waits for one to call. Knows no provider.

use std::collections::BTreeSet;
use std::task::{Context, Poll};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

use super::queue::Subject;

/// A poll: lifecycle, input, key.
pub(crate) type PollId = (usize, usize, String);

/// Whose turn it is.
#[derive(Clone, Debug)]
pub(crate) enum Turned {
    Call(Subject),
    Poll(PollId),
}

/// What turns bring to the loop.
pub(crate) struct Turns {
    said: UnboundedReceiver<(Turned, Instant)>,
    says: UnboundedSender<(Turned, Instant)>,
    /// Who waits for a turn to call.
    pub(crate) waiting: BTreeSet<Subject>,
}

impl Default for Turns {
    fn default() -> Self {
        let (says, said) = unbounded_channel();
        Self {
            said,
            says,
            waiting: BTreeSet::new(),
        }
    }
}

impl Turns {
    /// Runs when it is somebody's turn; nobody listens to a loop that has ended.
    pub(crate) fn tells(&self, whose: Turned) -> impl Fn(Instant) + Send + Sync + 'static {
        let says = self.says.clone();
        move |at| {
            let _ = says.send((whose.clone(), at));
        }
    }

    /// Who has a turn now.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Vec<(Turned, Instant)>> {
        let mut all = Vec::new();
        while let Poll::Ready(Some(turned)) = self.said.poll_recv(cx) {
            all.push(turned);
        }
        if all.is_empty() {
            Poll::Pending
        } else {
            Poll::Ready(all)
        }
    }
}
