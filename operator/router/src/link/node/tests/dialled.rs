//! A link that is dialled again and again, with the pauses of a router.

use std::sync::{Arc, Mutex};

use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{Instant, sleep};

use super::wire::Line;
use super::world::link;
use crate::link::cost::Cost;
use crate::link::node::Node;
use crate::link::session::Side;
use crate::link::socket::{LASTED, PAUSES};

/// It is dialled until this is dropped.
pub(super) struct Dialled {
    pub(super) line: Line,
    to: watch::Sender<Node>,
    /// The end of the node that is dialled, of the last pipe.
    accepted: Arc<Mutex<Option<AbortHandle>>>,
    task: JoinHandle<()>,
}

impl Dialled {
    pub(super) fn new(from: &Node, to: &Node, cost: u32, line: Line) -> Self {
        let (to, node) = watch::channel(to.clone());
        let accepted = Arc::default();
        let dialling = dial(
            from.clone(),
            node,
            Cost::fixed(cost),
            line.clone(),
            Arc::clone(&accepted),
        );
        Self {
            line,
            to,
            accepted,
            task: tokio::spawn(dialling),
        }
    }

    /// Replaces the dialled node by another one.
    pub(super) fn lead_to(&self, node: &Node) {
        self.to.send_replace(node.clone());
        if let Some(accepted) = self.accepted.lock().unwrap().take() {
            accepted.abort();
        }
    }
}

impl Drop for Dialled {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn dial(
    from: Node,
    to: watch::Receiver<Node>,
    cost: Cost,
    line: Line,
    accepted: Arc<Mutex<Option<AbortHandle>>>,
) {
    let mut pause = PAUSES.0;
    loop {
        let (began, other) = (Instant::now(), to.borrow().clone());
        let [ours, theirs] = line.pipe();
        let accept = link(
            &other,
            theirs,
            Side::Accept,
            from.site().clone(),
            cost.clone(),
        );
        let accept = tokio::spawn(accept).abort_handle();
        *accepted.lock().unwrap() = Some(accept);
        link(&from, ours, Side::Dial, other.site().clone(), cost.clone()).await;
        if began.elapsed() >= LASTED {
            pause = PAUSES.0;
        }
        sleep(pause).await;
        pause = (2 * pause).min(PAUSES.1);
    }
}
