//! Notifications that provider turns send to the loop, and the objects that wait for a turn to
//! call. Knows no provider.

use std::collections::BTreeSet;
use std::task::{Context, Poll};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

use super::queue::Subject;

/// A poll: lifecycle, input, key.
pub(crate) type PollId = (usize, usize, String);

/// Call or poll that has its turn.
#[derive(Clone, Debug)]
pub(crate) enum TurnOwner {
    Call(Subject),
    Poll(PollId),
}

/// Channel through which provider turns notify the loop.
pub(crate) struct Turns {
    said: UnboundedReceiver<(TurnOwner, Instant)>,
    says: UnboundedSender<(TurnOwner, Instant)>,
    /// Objects that wait for a turn to call.
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
    /// Returns a callback for an object's turn. A loop that has ended ignores it.
    pub(crate) fn notifier(&self, whose: TurnOwner) -> impl Fn(Instant) + Send + Sync + 'static {
        let says = self.says.clone();
        move |at| {
            let _ = says.send((whose.clone(), at));
        }
    }

    /// Returns the calls and polls that have a turn now.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Vec<(TurnOwner, Instant)>> {
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
