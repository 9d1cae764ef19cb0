//! The open streams. The table ends streams together with their entry. It bounds their number: in
//! total, per listener, per source address, and of streams that have carried nothing yet. A stream
//! of the last group makes room for a newer one, so clients that only connect never keep others
//! out.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::options::Caps;
use crate::routing::Target;

/// All open streams of a router.
#[derive(Debug)]
pub(crate) struct Streams {
    caps: Caps,
    open: Mutex<Open>,
    ended: Notify,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    streams: BTreeMap<u64, Stream>,
    of_listener: BTreeMap<Arc<str>, usize>,
    of_source: BTreeMap<IpAddr, usize>,
    /// Those that have carried nothing yet, by arrival.
    new: BTreeMap<IpAddr, BTreeSet<u64>>,
    new_of_listener: BTreeMap<Arc<str>, BTreeSet<u64>>,
    all_new: usize,
}

#[derive(Debug)]
struct Stream {
    listener: Arc<str>,
    source: IpAddr,
    target: Option<Arc<Target>>,
    task: AbortHandle,
    is_new: bool,
}

impl Streams {
    pub(crate) fn new(caps: Caps) -> Arc<Self> {
        Arc::new(Self {
            caps,
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
        (listener, source): (&Arc<str>, IpAddr),
        work: impl FnOnce(StreamPermit) -> F,
    ) -> bool
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let mut open = self.open();
        let (has_room, gone) = open.make_room(&self.caps, listener, source);
        if has_room {
            let id = open.next;
            open.next += 1;
            let permit = StreamPermit {
                streams: self.clone(),
                id,
            };
            // The lock is held until the stream is in the table, so that the stream cannot leave
            // before it entered.
            let task = tokio::spawn(work(permit)).abort_handle();
            open.enter(id, listener, source, task);
        }
        drop(open);
        gone.iter().for_each(AbortHandle::abort);
        has_room
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

impl Open {
    /// Makes room for one more stream, if it may come. Returns the streams that go for it.
    fn make_room(
        &mut self,
        caps: &Caps,
        listener: &Arc<str>,
        source: IpAddr,
    ) -> (bool, Vec<AbortHandle>) {
        let mut gone = Vec::new();
        if self
            .of_source
            .get(&source)
            .is_some_and(|all| *all >= caps.of_source)
        {
            let new = self.new.get(&source).and_then(|new| new.first().copied());
            gone.extend(new.and_then(|first| self.leave(first)));
            if gone.is_empty() {
                return (false, gone);
            }
        }
        if self
            .of_listener
            .get(listener)
            .is_some_and(|all| *all >= caps.of_listener)
        {
            let new = self.new_of_listener.get(listener);
            let first = new.and_then(|new| new.first().copied());
            let Some(left) = first.and_then(|first| self.leave(first)) else {
                return (false, gone);
            };
            gone.push(left);
        }
        if self.streams.len() >= caps.all || self.all_new >= caps.new {
            let first = self.first_new_of_busiest();
            let Some(left) = first.and_then(|first| self.leave(first)) else {
                return (false, gone);
            };
            gone.push(left);
        }
        (true, gone)
    }

    /// Of the streams that have carried nothing yet the first of the source that has most of them.
    fn first_new_of_busiest(&self) -> Option<u64> {
        let firsts = self.new.values();
        let firsts = firsts.filter_map(|of_source| Some((of_source.len(), *of_source.first()?)));
        let busiest = firsts.max_by_key(|(count, first)| (*count, std::cmp::Reverse(*first)));
        busiest.map(|(_, first)| first)
    }

    fn enter(&mut self, id: u64, listener: &Arc<str>, source: IpAddr, task: AbortHandle) {
        *self.of_listener.entry(listener.clone()).or_default() += 1;
        *self.of_source.entry(source).or_default() += 1;
        self.new.entry(source).or_default().insert(id);
        let of_listener = self.new_of_listener.entry(listener.clone());
        of_listener.or_default().insert(id);
        self.all_new += 1;
        let stream = Stream {
            listener: listener.clone(),
            source,
            target: None,
            task,
            is_new: true,
        };
        self.streams.insert(id, stream);
    }

    fn leave(&mut self, id: u64) -> Option<AbortHandle> {
        self.settle(id);
        let stream = self.streams.remove(&id)?;
        one_less(&mut self.of_listener, &stream.listener);
        one_less(&mut self.of_source, &stream.source);
        Some(stream.task)
    }

    /// The stream is new no more.
    fn settle(&mut self, id: u64) {
        let Some(stream) = self.streams.get_mut(&id).filter(|stream| stream.is_new) else {
            return;
        };
        stream.is_new = false;
        self.all_new -= 1;
        remove(&mut self.new, &stream.source, id);
        remove(&mut self.new_of_listener, &stream.listener, id);
    }
}

fn remove<K: Ord>(sets: &mut BTreeMap<K, BTreeSet<u64>>, key: &K, id: u64) {
    if let Some(set) = sets.get_mut(key) {
        set.remove(&id);
        if set.is_empty() {
            sets.remove(key);
        }
    }
}

fn one_less<K: Ord>(counts: &mut BTreeMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

/// Permit that counts a stream among the open ones; dropping it removes the stream.
#[derive(Debug)]
pub(crate) struct StreamPermit {
    streams: Arc<Streams>,
    id: u64,
}

impl StreamPermit {
    /// Records that the stream has carried bytes.
    pub(crate) fn heard(&self) {
        self.streams.open().settle(self.id);
    }

    /// Records the target of the stream. Returns false if that entry is gone by now.
    pub(crate) fn attach(&self, target: &Arc<Target>) -> bool {
        let mut open = self.streams.open();
        // The check runs under the lock, because removing an entry cancels first and then looks
        // for its streams.
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
        open.leave(self.id);
        if open.streams.is_empty() {
            self.streams.ended.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::net::Ipv4Addr;

    use super::*;

    fn source(last: u8) -> IpAddr {
        Ipv4Addr::new(10, 0, 0, last).into()
    }

    /// Streams by listener and source, active or silent.
    struct Crowd(Arc<Streams>);

    impl Crowd {
        fn new(caps: [usize; 4]) -> Self {
            let [all, of_listener, of_source, new] = caps;
            Self(Streams::new(Caps {
                all,
                of_listener,
                of_source,
                new,
            }))
        }

        async fn enters(&self, listener: &str, last: u8, speaks: bool) -> bool {
            let entered = self
                .0
                .run((&listener.into(), source(last)), |permit| async move {
                    if speaks {
                        permit.heard();
                    }
                    pending::<()>().await;
                    drop(permit);
                });
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            entered
        }

        fn count_open(&self, last: u8) -> usize {
            let open = self.0.open();
            let count = open.of_source.get(&source(last));
            count.copied().unwrap_or_default()
        }
    }

    #[tokio::test]
    async fn a_listener_and_a_source_have_no_more_than_their_part() {
        let crowd = Crowd::new([10, 6, 4, 10]);
        for number in 0..8 {
            assert_eq!(crowd.enters("a", 1, true).await, number < 4, "{number}");
        }
        for number in 0..8 {
            assert_eq!(crowd.enters("a", 2, true).await, number < 2, "{number}");
        }
        assert!(crowd.enters("b", 2, true).await);
        assert_eq!(crowd.0.count(), 7);
        crowd.0.abort_all();
        crowd.0.all_ended().await;
        let open = crowd.0.open();
        assert!(open.streams.is_empty() && open.of_listener.is_empty());
        assert!(open.of_source.is_empty() && open.new.is_empty());
        assert!(open.new_of_listener.is_empty() && open.all_new == 0);
    }

    #[tokio::test]
    async fn who_only_connects_makes_room_for_others() {
        let crowd = Crowd::new([10, 10, 8, 4]);
        assert!(crowd.enters("a", 1, false).await);
        for _ in 0..50 {
            assert!(crowd.enters("a", 2, false).await);
        }
        assert_eq!((crowd.count_open(1), crowd.count_open(2)), (1, 3));
        for _ in 0..6 {
            assert!(crowd.enters("a", 3, true).await);
        }
        assert_eq!((crowd.count_open(1), crowd.count_open(3)), (1, 6));
        // Even when all is full; who has carried something stays.
        for _ in 0..2 {
            assert!(crowd.enters("a", 4, true).await);
        }
        assert_eq!(
            (crowd.0.count(), crowd.count_open(3), crowd.count_open(4)),
            (10, 6, 2)
        );
    }

    #[tokio::test]
    async fn who_only_connects_keeps_neither_its_source_nor_its_listener() {
        let crowd = Crowd::new([10, 4, 3, 10]);
        for _ in 0..3 {
            assert!(crowd.enters("a", 1, false).await);
        }
        assert!(crowd.enters("b", 1, true).await);
        assert_eq!(crowd.count_open(1), 3);
        for _ in 0..2 {
            assert!(crowd.enters("a", 2, true).await);
        }
        assert_eq!((crowd.count_open(1), crowd.count_open(2)), (3, 2));
        // The listener `a` has four: two that carried nothing.
        for _ in 0..2 {
            assert!(crowd.enters("a", 3, true).await);
        }
        assert_eq!((crowd.count_open(1), crowd.count_open(3)), (1, 2));
        assert!(!crowd.enters("a", 4, true).await);
    }
}
