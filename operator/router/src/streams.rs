//! The streams that are open, so that those over an entry end with it, and so that there are never too many.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::routing::Target;

/// All open streams of a router.
#[derive(Debug)]
pub(crate) struct Streams {
    most: usize,
    open: Mutex<Open>,
    ended: Notify,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    streams: BTreeMap<u64, Stream>,
}

#[derive(Debug)]
struct Stream {
    listener: Arc<str>,
    target: Option<Arc<Target>>,
    task: AbortHandle,
}

impl Streams {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            open: Mutex::default(),
            ended: Notify::new(),
        })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().expect("no holder of the streams panics")
    }

    /// How many are open.
    pub(crate) fn count(&self) -> usize {
        self.open().streams.len()
    }

    /// Runs one more stream, unless there are too many: then `work` is dropped.
    pub(crate) fn run<F>(
        self: &Arc<Self>,
        listener: &Arc<str>,
        work: impl FnOnce(StreamPermit) -> F,
    ) -> bool
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let mut open = self.open();
        if open.streams.len() >= self.most {
            return false;
        }
        let id = open.next;
        open.next += 1;
        let permit = StreamPermit {
            streams: self.clone(),
            id,
        };
        // The lock is held until the stream is in the table, so that it cannot leave before it came.
        let task = tokio::spawn(work(permit)).abort_handle();
        let stream = Stream {
            listener: listener.clone(),
            target: None,
            task,
        };
        open.streams.insert(id, stream);
        true
    }

    /// Aborts the streams that came in by a listener.
    pub(crate) fn abort_listener(&self, name: &str) -> usize {
        self.abort(|stream| &*stream.listener == name)
    }

    /// Aborts the streams to a target, which must be cancelled already.
    pub(crate) fn abort_target(&self, target: &Arc<Target>) -> usize {
        self.abort(|stream| {
            let to = stream.target.as_ref();
            to.is_some_and(|to| Arc::ptr_eq(to, target))
        })
    }

    /// Aborts all.
    pub(crate) fn abort_all(&self) -> usize {
        self.abort(|_| true)
    }

    fn abort(&self, which: impl Fn(&Stream) -> bool) -> usize {
        let open = self.open();
        let streams = open.streams.values().filter(|stream| which(stream));
        let tasks: Vec<AbortHandle> = streams.map(|stream| stream.task.clone()).collect();
        drop(open);
        tasks.iter().for_each(AbortHandle::abort);
        tasks.len()
    }

    /// Waits until none is open.
    pub(crate) async fn all_ended(&self) {
        loop {
            let ended = self.ended.notified();
            let mut ended = std::pin::pin!(ended);
            ended.as_mut().enable();
            if self.count() == 0 {
                return;
            }
            ended.await;
        }
    }
}

/// What lets a stream be among those that are open; it leaves when this is dropped.
#[derive(Debug)]
pub(crate) struct StreamPermit {
    streams: Arc<Streams>,
    id: u64,
}

impl StreamPermit {
    /// Says where the stream goes. False if that entry is gone by now.
    pub(crate) fn attach(&self, target: &Arc<Target>) -> bool {
        let mut open = self.streams.open();
        // Asked under the lock: who removes the entry cancels first and looks for its streams then.
        if target.gone.is_cancelled() {
            return false;
        }
        if let Some(stream) = open.streams.get_mut(&self.id) {
            stream.target = Some(target.clone());
        }
        true
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut open = self.streams.open();
        open.streams.remove(&self.id);
        if open.streams.is_empty() {
            self.streams.ended.notify_waiters();
        }
    }
}
