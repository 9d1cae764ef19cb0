//! Main loop: it records the changes of watches. The concerned controllers then reconcile them, in
//! order of controllers and names.

use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::time::Duration;

use jiff::Timestamp;
use kube::Client;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::World;
use super::cache::{Cache, Change};
use super::calls::{About, Call, Calls, Failure, Reply};
use super::duties::Duty;
use super::kinds::{Kind, ObjectKey};
use super::operation::Operation;
use super::send::{self, Ended, ensure};
use super::view::View;
use super::watching::Watches;
use super::{events, nodes, rpc};

type Task = (Duty, ObjectKey);
/// Task that requested the call, the call, and its outcome.
type Called = (Task, Call, Result<Reply, Failure>);

pub(super) struct Runner {
    world: World,
    client: Client,
    cache: Cache,
    watches: Watches,
    calls: Calls,
    calling: JoinSet<Called>,
    duties: Vec<Duty>,
    due: BTreeMap<Task, Instant>,
    /// Since when a controller waits for an object.
    waits: BTreeMap<Task, Instant>,
    began: Instant,
    origin: Timestamp,
}

impl Runner {
    pub(super) fn new(world: World, client: Client) -> Self {
        Self {
            duties: Duty::enabled(&world),
            watches: Watches::new(client.clone()),
            calls: Calls::default(),
            calling: JoinSet::new(),
            cache: Cache::default(),
            due: BTreeMap::new(),
            waits: BTreeMap::new(),
            began: Instant::now(),
            origin: world.origin,
            world,
            client,
        }
    }

    pub(super) async fn run(mut self) {
        for (n, name) in self.world.nodes.clone().iter().enumerate() {
            let (key, node, status) = nodes::build_node(n, name, &self.now());
            ensure(&self.client, &key, &node, status).await;
        }
        loop {
            self.listen().await;
            self.work().await;
        }
    }

    /// Waits until something came or is due.
    async fn listen(&mut self) {
        let next = self.due.values().min().copied();
        let (watches, cache) = (&mut self.watches, &mut self.cache);
        let changes = tokio::select! {
            biased;
            changes = poll_fn(|cx| watches.poll(cache, cx)) => changes,
            Some(called) = self.calling.join_next() => {
                // A panicked call has already been reported.
                if let Ok(called) = called {
                    self.called(called).await;
                }
                Vec::new()
            }
            () = sleep_until(next.unwrap_or(self.began)), if next.is_some() => Vec::new(),
        };
        let now = Instant::now();
        for change in &changes {
            self.wake(change, now);
        }
        if self.world.garbage {
            let all = self.cache.may_have_lost_owners();
            self.due
                .extend(all.into_iter().map(|key| ((Duty::Garbage, key), now)));
        }
    }

    fn wake(&mut self, change: &Change, now: Instant) {
        if change.old == change.new {
            return;
        }
        for duty in &self.duties {
            for key in duty.concerned(&self.cache, change) {
                self.due.insert((*duty, key), now);
            }
        }
    }

    /// Runs the due tasks.
    async fn work(&mut self) {
        let now = Instant::now();
        let due = self.due.iter().filter(|(_, at)| **at <= now);
        let tasks: BTreeSet<Task> = due.map(|(task, _)| task.clone()).collect();
        for task in tasks {
            self.due.remove(&task);
            self.reconcile(task, now).await;
        }
    }

    async fn reconcile(&mut self, task: Task, now: Instant) {
        let waited = self
            .waits
            .get(&task)
            .map(|since| now.duration_since(*since));
        let view = View {
            cache: &self.cache,
            world: &self.world,
            calls: &self.calls,
            at: now,
            waited: waited.unwrap_or_default(),
            now: self.now(),
        };
        let operations = task.0.operations(&view, &task.1);
        let waits = operations.iter().any(|d| matches!(d, Operation::Later(_)));
        if waits {
            self.waits.entry(task.clone()).or_insert(now);
        } else {
            self.waits.remove(&task);
        }
        for operation in operations {
            self.apply(&task, operation).await;
        }
    }

    async fn apply(&mut self, task: &Task, operation: Operation) {
        if let Operation::Call(call) = operation {
            return self.call(task, *call);
        }
        if let Operation::Forget(about) = &operation {
            self.calls.forget(about);
            self.due.entry(task.clone()).or_insert_with(Instant::now);
            return;
        }
        let (ended, made) = send::apply(&self.client, &self.cache, operation).await;
        let now = Instant::now();
        if let Ended::Again(time) = ended {
            let at = self.due.entry(task.clone()).or_insert(now + time);
            *at = (*at).min(now + time);
        }
        // The next operation may depend on it, and the watch is not that fast.
        if let Some((key, object)) = made {
            let change = self.cache.put(key, Some(object));
            self.wake(&change, now);
        }
    }

    /// Begins a call; the loop goes on meanwhile.
    fn call(&mut self, task: &Task, call: Call) {
        let Some(volumes) = self.world.volumes.clone() else {
            return;
        };
        self.calls.begin(&call);
        let task = task.clone();
        self.calling.spawn(async move {
            let outcome = rpc::perform(&volumes, &call).await;
            (task, call, outcome)
        });
    }

    /// Handles the end of a call. The controller that made it reconciles the object, as do all
    /// other concerned ones.
    async fn called(&mut self, (task, call, outcome): Called) {
        let now = Instant::now();
        if let Err(failure) = &outcome
            && let Some(operation) =
                events::of_failure(&self.cache, &task.1, (&call, failure), &self.now())
        {
            self.apply(&task, operation).await;
        }
        self.calls.end(&call.about, call.verb(), outcome, now);
        let all = match &call.about {
            About::Volume { .. } => BTreeSet::new(),
            About::Plugin { node, .. }
            | About::Staged { node, .. }
            | About::Published { node, .. } => super::pods::on_node(&self.cache, node),
        };
        for key in all {
            self.due.insert((Duty::Kubelet, key), now);
        }
        if let About::Plugin { .. } = &call.about {
            let kind = Kind::from_name("PersistentVolumeClaim");
            let claims: Vec<ObjectKey> = self
                .cache
                .all(&kind, None)
                .map(|(k, _)| k.clone())
                .collect();
            let tasks = claims
                .into_iter()
                .map(|key| ((Duty::Provisioner, key), now));
            self.due.extend(tasks);
        }
        self.due.insert(task, now);
    }

    /// Returns the wall-clock time, counted from the configured start.
    fn now(&self) -> String {
        let elapsed: Duration = self.began.elapsed();
        let elapsed = jiff::SignedDuration::try_from(elapsed).unwrap_or_default();
        let now = self.origin.checked_add(elapsed).unwrap_or(self.origin);
        now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }
}
