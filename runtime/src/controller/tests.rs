//! The loop on paused time, over a server that is one function: back-off, refusals, fences, leadership, and replay from a seed.

mod applied;
mod counted;
mod declared;
mod leading;
mod limited;
mod logged;
mod polled;
mod said;
mod timed;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::*;
use crate::cluster::fixture::{maker, merge, thing};
use crate::shutdown::Trigger;
use lifecycle_client::scripted::{self, failure};

/// Answer of the server to a write.
#[derive(Clone, Debug)]
enum Answer {
    /// Applies it.
    Do,
    /// Applies it and changes the object, as a policy would.
    Change(Value),
    /// Applies it, keeps no status.
    Prune,
    Fail(u16, &'static str),
    /// Applies it after this time.
    After(Duration),
}

type Policy = Box<dyn Fn(&str) -> Answer + Send>;

struct State {
    begun: Instant,
    objects: BTreeMap<String, Value>,
    version: u64,
    log: Vec<(Duration, String)>,
    /// Changed objects that the watch has not reported yet.
    news: Vec<Value>,
    policy: Policy,
}

#[derive(Clone)]
struct Server(Arc<Mutex<State>>);

impl Server {
    fn new(policy: impl Fn(&str) -> Answer + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(State {
            begun: Instant::now(),
            objects: BTreeMap::new(),
            version: 100,
            log: Vec::new(),
            news: Vec::new(),
            policy: Box::new(policy),
        })))
    }

    fn with_state<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn client(&self) -> Client {
        let server = self.clone();
        scripted::client(move |method, uri, body| {
            let server = server.clone();
            async move { server.serve(&method, &uri, &body).await }
        })
    }

    async fn serve(&self, method: &str, uri: &str, body: &Value) -> (u16, Value) {
        let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
        if query.contains("watch=true") {
            return pending().await;
        }
        let line = format!("{method} {path}");
        let answer = self.with_state(|s| {
            s.log.push((s.begun.elapsed(), line.clone()));
            (s.policy)(&line)
        });
        if let Answer::After(wait) = answer {
            sleep(wait).await;
        }
        self.with_state(|s| s.write(path, body, &answer))
    }

    fn lines(&self) -> Vec<String> {
        self.with_state(|s| s.log.iter().map(|(_, line)| line.clone()).collect())
    }

    fn count(&self, part: &str) -> usize {
        self.lines().iter().filter(|l| l.contains(part)).count()
    }
}

impl State {
    fn write(&mut self, path: &str, body: &Value, answer: &Answer) -> (u16, Value) {
        if let Answer::Fail(code, message) = answer {
            return failure(*code, "", message);
        }
        if path.ends_with("/events") {
            return (201, body.clone());
        }
        let (path, is_status) = match path.strip_suffix("/status") {
            Some(path) => (path, true),
            None => (path, false),
        };
        let before = self.objects.get(path).cloned();
        let creates = body["metadata"]["resourceVersion"] == "1";
        if creates && before.is_some() {
            return self.write(
                path,
                body,
                &Answer::Fail(409, "the object has been modified"),
            );
        }
        let mut object = before.clone().unwrap_or_else(|| json!({}));
        match (is_status, answer) {
            (true, Answer::Prune) => {}
            (true, _) => object["status"] = body["status"].clone(),
            (false, _) => {
                let mut body = body.clone();
                body["metadata"]
                    .as_object_mut()
                    .map(|m| m.remove("resourceVersion"));
                merge(&mut object, body);
                object["metadata"]["uid"] = json!(format!("uid of {path}"));
            }
        }
        if let Answer::Change(change) = answer {
            merge(&mut object, change.clone());
        }
        if before.as_ref() != Some(&object) {
            self.version += 1;
            object["metadata"]["resourceVersion"] = json!(self.version.to_string());
            self.objects.insert(path.to_owned(), object.clone());
            self.news.push(object.clone());
        }
        (200, object)
    }
}

/// A controller of things on such a server.
struct Sim {
    controller: Controller,
    server: Server,
    shutdown: Shutdown,
    /// True if the watches deliver the written objects.
    tells: bool,
    _trigger: Trigger,
}

struct Noon;

impl Clock for Noon {
    fn now(&self) -> jiff::Timestamp {
        "2026-06-01T12:00:00Z".parse().expect("a constant time")
    }
}

impl Sim {
    fn new(seed: u64, policy: impl Fn(&str) -> Answer + Send + 'static) -> Self {
        Self::for_machine(Arc::new(maker()), seed, policy)
    }

    fn for_machine(
        machine: Arc<dyn Machine>,
        seed: u64,
        policy: impl Fn(&str) -> Answer + Send + 'static,
    ) -> Self {
        Self::with_providers(machine, (seed, &Providers::default()), policy)
    }

    /// With limits of providers.
    fn limited(machine: Arc<dyn Machine>, seed: u64, providers: &Providers) -> Self {
        Self::with_providers(machine, (seed, providers), |_| Answer::Do)
    }

    fn with_providers(
        machine: Arc<dyn Machine>,
        (seed, providers): (u64, &Providers),
        policy: impl Fn(&str) -> Answer + Send + 'static,
    ) -> Self {
        let server = Server::new(policy);
        let settings = Settings {
            namespaces: BTreeSet::new(),
            instance: "here".to_owned(),
            largest: usize::MAX,
            concurrency: 16,
            seed,
            randomness: Randomness::Seeded(seed),
            clock: Arc::new(Noon),
            counters: Counters::default(),
            wakes: Wakes::default(),
            providers: providers.clone(),
            health: Health::default(),
            trace: None,
        };
        let naming = Naming::new("op", machine.ir().name);
        let lifecycles = vec![(machine, naming)];
        let controller = Controller::new(server.client(), lifecycles, settings);
        let (trigger, shutdown) = Shutdown::pair();
        let mut sim = Self {
            controller: controller.expect("the lifecycle can run"),
            server,
            shutdown,
            tells: true,
            _trigger: trigger,
        };
        for store in 0..sim.controller.stores.len() {
            sim.controller.watched(store, Event::Init);
            sim.controller.watched(store, Event::InitDone);
        }
        sim
    }

    /// With a class and a thing of it.
    fn with_thing(seed: u64, policy: impl Fn(&str) -> Answer + Send + 'static) -> Self {
        let mut sim = Self::new(seed, policy);
        sim.deliver(json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": "c", "namespace": "ns", "uid": "c", "resourceVersion": "2" }, "data": { "size": "small" },
        }));
        let thing = thing(json!({ "className": "c" }), json!({}));
        let path = "/apis/tests/v1/namespaces/ns/things/t".to_owned();
        sim.server
            .with_state(|s| s.objects.insert(path, thing.clone()));
        sim.deliver(thing);
        sim
    }

    fn deliver(&mut self, object: Value) {
        let kind = object["kind"].clone();
        let mut stores = self.controller.stores.iter();
        let store = stores.position(|s| kind == s.kind.kind.as_str());
        let event = Event::Apply(Raw::new(object));
        self.controller
            .watched(store.expect("the kind is watched"), event);
    }

    fn catch_up(&mut self) {
        for object in self.server.with_state(|s| std::mem::take(&mut s.news)) {
            self.deliver(object);
        }
    }

    /// Advances virtual time.
    async fn run(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            if self.tells {
                self.catch_up();
            }
            tokio::select! {
                biased;
                _ = self.controller.step(&mut self.shutdown) => {}
                () = sleep_until(end) => return,
            }
        }
    }
}

const HOUR: Duration = Duration::from_secs(3600);
const MADE: &str = "configmaps/t";

#[tokio::test(start_paused = true)]
async fn a_new_object_costs_two_writes_and_then_nothing() {
    let mut sim = Sim::with_thing(1, |_| Answer::Do);
    sim.run(24 * HOUR).await;
    let lines = sim.server.lines();
    assert_eq!(
        lines,
        [
            "PATCH /api/v1/namespaces/ns/configmaps/t",
            "PATCH /apis/tests/v1/namespaces/ns/things/t/status",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn b21_f12_a_failing_write_is_tried_fewer_than_twenty_times_an_hour() {
    let fail = |line: &str| match line.contains(MADE) {
        true => Answer::Fail(500, "Internal error occurred: failed calling webhook \"w\""),
        false => Answer::Do,
    };
    let mut sim = Sim::with_thing(1, fail);
    sim.run(HOUR).await;
    let tries = sim.server.count(MADE);
    assert!((10..20).contains(&tries), "{tries}");
    let reports = sim.server.count("/status");
    assert!(
        reports <= 3,
        "{reports} reports: where it is, what is in the way, and that it takes too long"
    );
    sim.server
        .with_state(|s| s.policy = Box::new(|_| Answer::Do));
    sim.run(Duration::from_secs(600)).await;
    let object = sim
        .server
        .with_state(|s| s.objects["/apis/tests/v1/namespaces/ns/things/t"].clone());
    assert_eq!(object["status"]["phase"], "Ready");
}

#[tokio::test(start_paused = true)]
async fn a_refused_write_is_repeated_on_a_slow_timer_only() {
    let refuse = |line: &str| match line.contains(MADE) {
        true => Answer::Fail(422, "it may not change"),
        false => Answer::Do,
    };
    let mut sim = Sim::with_thing(1, refuse);
    sim.run(HOUR).await;
    let tries = sim.server.count(MADE);
    assert!((5..9).contains(&tries), "{tries}");
    assert_eq!(sim.server.count("/status"), 1);
}

/// The phase that the thing reports.
fn phase(sim: &Sim) -> Value {
    sim.server.with_state(|s| {
        s.objects["/apis/tests/v1/namespaces/ns/things/t"]["status"]["phase"].clone()
    })
}

#[tokio::test(start_paused = true)]
async fn a_write_that_something_is_in_the_way_of_is_tried_again_within_a_minute() {
    let taken = "Service \"t\" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated";
    let occupied = move |line: &str| match line.contains(MADE) {
        true => Answer::Fail(422, taken),
        false => Answer::Do,
    };
    let mut sim = Sim::with_thing(1, occupied);
    sim.run(HOUR).await;
    let tries = sim.server.count(MADE);
    assert!((55..90).contains(&tries), "{tries}");
    assert_eq!(sim.server.count("/status"), 1, "it is told once");
    sim.server
        .with_state(|s| s.policy = Box::new(|_| Answer::Do));
    sim.run(Duration::from_secs(75)).await;
    assert_eq!(phase(&sim), "Ready");
}

#[tokio::test(start_paused = true)]
async fn while_the_servers_storage_is_full_little_is_asked_and_all_is_well_soon_after() {
    let full = |_: &str| Answer::Fail(500, "etcdserver: mvcc: database space exceeded");
    let mut sim = Sim::with_thing(1, full);
    sim.run(HOUR).await;
    let tries = sim.server.lines().len();
    assert!((300..460).contains(&tries), "{tries}");
    sim.server
        .with_state(|s| s.policy = Box::new(|_| Answer::Do));
    sim.run(Duration::from_secs(15)).await;
    assert_eq!(phase(&sim), "Ready");
}

#[tokio::test(start_paused = true)]
async fn equal_seeds_replay_and_others_do_not() {
    let log = async |seed| {
        let mut sim = Sim::with_thing(seed, |line| match line.contains(MADE) {
            true => Answer::Fail(503, "not now"),
            false => Answer::Do,
        });
        sim.run(HOUR).await;
        sim.server.with_state(|s| s.log.clone())
    };
    let (first, second, third) = (log(1).await, log(1).await, log(2).await);
    assert_eq!(first, second);
    assert_ne!(first, third);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_done_before_the_caches_show_the_last_write() {
    let mut sim = Sim::with_thing(1, |_| Answer::Do);
    sim.tells = false;
    sim.run(Duration::from_secs(30)).await;
    assert_eq!(
        sim.server.lines(),
        ["PATCH /api/v1/namespaces/ns/configmaps/t"]
    );
    sim.tells = true;
    sim.run(Duration::from_secs(1)).await;
    assert_eq!(sim.server.count("/status"), 1);
}

#[tokio::test(start_paused = true)]
async fn an_unseen_object_of_that_name_is_never_seized() {
    let mut sim = Sim::with_thing(1, |_| Answer::Do);
    let foreign = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": { "size": "theirs" },
        "metadata": { "name": "t", "namespace": "ns", "uid": "other", "resourceVersion": "50" },
    });
    let path = "/api/v1/namespaces/ns/configmaps/t".to_owned();
    sim.server
        .with_state(|s| s.objects.insert(path.clone(), foreign.clone()));
    sim.run(Duration::from_secs(5)).await;
    assert_eq!(sim.server.with_state(|s| s.objects[&path].clone()), foreign);
    let tries = sim.server.count(MADE);
    sim.deliver(foreign.clone());
    sim.run(HOUR).await;
    assert_eq!(sim.server.count(MADE), tries, "it is seen to be foreign");
    assert_eq!(sim.server.with_state(|s| s.objects[&path].clone()), foreign);
}

#[tokio::test(start_paused = true)]
async fn b20_a_policy_that_always_changes_our_fields_does_not_loop() {
    let change = |line: &str| match line.contains(MADE) {
        true => Answer::Change(json!({ "data": { "size": "by policy" } })),
        false => Answer::Do,
    };
    let mut sim = Sim::with_thing(1, change);
    sim.run(24 * HOUR).await;
    assert!(sim.server.count(MADE) <= 2, "{:?}", sim.server.lines());
    let object = sim
        .server
        .with_state(|s| s.objects["/apis/tests/v1/namespaces/ns/things/t"].clone());
    assert_eq!(object["status"]["phase"], "Ready");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_keeps_no_status_is_told_once() {
    let mut sim = Sim::with_thing(1, |line| match line.contains("/status") {
        true => Answer::Prune,
        false => Answer::Do,
    });
    sim.run(24 * HOUR).await;
    assert_eq!(sim.server.count("/status"), 1);
}

#[tokio::test(start_paused = true)]
async fn whoever_undoes_our_writes_again_and_again_is_not_fought_at_full_speed() {
    let mut sim = Sim::with_thing(1, |_| Answer::Do);
    let path = "/api/v1/namespaces/ns/configmaps/t";
    let end = Instant::now() + HOUR;
    while Instant::now() < end {
        sim.run(Duration::from_millis(100)).await;
        sim.server.with_state(|s| {
            s.version += 1;
            let version = json!(s.version.to_string());
            if let Some(object) = s.objects.get_mut(path) {
                object["data"]["size"] = json!("theirs");
                object["metadata"]["resourceVersion"] = version;
                s.news.push(object.clone());
            }
        });
    }
    let writes = sim.server.count(MADE);
    assert!((10..80).contains(&writes), "{writes}");
}

#[tokio::test(start_paused = true)]
async fn an_effect_that_takes_long_is_reported_after_a_second() {
    let slow = |line: &str| match line.contains(MADE) {
        true => Answer::After(Duration::from_secs(3)),
        false => Answer::Do,
    };
    let mut sim = Sim::with_thing(1, slow);
    sim.run(Duration::from_millis(2900)).await;
    assert_eq!(
        sim.server.count("/status"),
        0,
        "never two writes of one object at once"
    );
    sim.run(Duration::from_secs(2)).await;
    assert_eq!(sim.server.count("/status"), 1);
}

#[tokio::test(start_paused = true)]
async fn without_the_lease_nothing_is_written_and_what_is_on_its_way_is_dropped() {
    let slow = |line: &str| match line.contains(MADE) {
        true => Answer::After(Duration::from_secs(8)),
        false => Answer::Do,
    };
    let mut sim = Sim::with_thing(1, slow);
    let (until, lease) = watch::channel(None);
    sim.controller.leading.lease = Some(lease);
    sim.run(HOUR).await;
    assert_eq!(sim.server.lines().len(), 0);
    let counts = sim.controller.settings.counters.read();
    assert_eq!(counts.all_passes(), 0);
    until.send_replace(Some(Instant::now() + Duration::from_secs(5)));
    sim.run(HOUR).await;
    assert_eq!(
        sim.server.lines(),
        ["PATCH /api/v1/namespaces/ns/configmaps/t"],
        "one write left, and nothing after the end of the lease"
    );
    let done = sim.server.with_state(|s| s.objects.len());
    assert_eq!(done, 1, "it was dropped before the server applied it");
    until.send_replace(Some(Instant::now() + HOUR));
    sim.run(Duration::from_secs(60)).await;
    assert_eq!(sim.server.count(MADE), 2);
    assert_eq!(sim.server.count("/status"), 1);
}

#[tokio::test(start_paused = true)]
async fn what_takes_too_long_is_told_once_in_time_although_the_wall_clock_is_put_back() {
    let mut sim = Sim::with_thing(1, |_| Answer::Do);
    sim.run(Duration::from_secs(5)).await;
    let leaving = sim.server.with_state(|s| {
        let object = s.objects.get("/api/v1/namespaces/ns/configmaps/t");
        let mut object = object.cloned().unwrap_or_default();
        object["metadata"]["deletionTimestamp"] = json!("2026-06-01T12:00:00Z");
        object["metadata"]["resourceVersion"] = json!("1000");
        object
    });
    sim.deliver(leaving);
    sim.run(Duration::from_secs(5)).await;
    let before = sim.server.count("/status");
    struct Earlier;
    impl Clock for Earlier {
        fn now(&self) -> jiff::Timestamp {
            "2026-05-01T12:00:00Z".parse().expect("a constant time")
        }
    }
    sim.controller.settings.clock = Arc::new(Earlier);
    let passes = sim.controller.settings.counters.read().all_passes();
    sim.run(Duration::from_secs(594)).await;
    assert_eq!(sim.server.count("/status"), before);
    sim.run(Duration::from_secs(3000)).await;
    assert_eq!(sim.server.count("/status"), before + 1);
    let more = sim.controller.settings.counters.read().all_passes() - passes;
    assert!(more <= 3, "{more} passes of an object that only waits");
    let object = sim
        .server
        .with_state(|s| s.objects["/apis/tests/v1/namespaces/ns/things/t"].clone());
    let conditions = object["status"]["conditions"].to_string();
    assert!(
        conditions.contains("it has been Draining for more than 10 min"),
        "{conditions}"
    );
}

#[tokio::test(start_paused = true)]
async fn it_stops_at_once_with_writes_on_their_way() {
    let sim = Sim::with_thing(1, |_| Answer::After(HOUR));
    let (trigger, shutdown) = Shutdown::pair();
    let run = tokio::spawn(sim.controller.run(shutdown, None));
    sleep(Duration::from_secs(1)).await;
    let begun = Instant::now();
    trigger.stop();
    run.await.expect("it ends without a panic");
    assert_eq!(begun.elapsed(), Duration::ZERO);
}
