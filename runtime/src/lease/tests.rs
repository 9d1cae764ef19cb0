//! Leadership on paused time, over a server that is one function.

use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use super::*;
use lifecycle_client::clock::SystemClock;
use lifecycle_client::scripted::{self, failure};

#[derive(Default)]
struct State {
    lease: Option<Value>,
    version: u64,
    requests: usize,
    /// Answers with this code and does nothing.
    fails: Option<u16>,
    /// Does not answer at all.
    hangs: bool,
    /// Applies the next write and loses the reply.
    loses_reply: bool,
}

#[derive(Clone, Default)]
struct Server(Arc<Mutex<State>>, Health);

impl Server {
    fn with_state<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn client(&self) -> Client {
        let server = self.clone();
        scripted::client(move |method, _, body| {
            let server = server.clone();
            async move { server.serve(&method, body).await }
        })
    }

    async fn serve(&self, method: &str, body: Value) -> (u16, Value) {
        let (hangs, reply) = self.with_state(|s| {
            s.requests += 1;
            let loses = s.loses_reply && method != "GET";
            if s.hangs {
                return (true, (0, Value::Null));
            }
            s.loses_reply &= !loses;
            (loses, s.answer(method, body))
        });
        if hangs {
            return std::future::pending().await;
        }
        reply
    }

    fn elector(&self, identity: &str) -> (Elector, watch::Receiver<Until>) {
        self.elector_by(identity, Arc::new(SystemClock))
    }

    fn elector_by(
        &self,
        identity: &str,
        clock: Arc<dyn Clock>,
    ) -> (Elector, watch::Receiver<Until>) {
        let who = Leadership {
            namespace: "ns".to_owned(),
            name: "lease".to_owned(),
            identity: identity.to_owned(),
        };
        Elector::new(self.client(), who, clock, self.1.clone())
    }

    fn holder(&self) -> String {
        let holder = |s: &mut State| {
            s.lease.as_ref()?["spec"]["holderIdentity"]
                .as_str()
                .map(str::to_owned)
        };
        self.with_state(holder).unwrap_or_default()
    }
}

impl State {
    fn answer(&mut self, method: &str, mut body: Value) -> (u16, Value) {
        if let Some(code) = self.fails {
            return failure(code, "", "not now");
        }
        if method == "GET" {
            let found = self.lease.clone().map(|lease| (200, lease));
            return found.unwrap_or_else(|| failure(404, "NotFound", "leases \"lease\" not found"));
        }
        let current = self
            .lease
            .as_ref()
            .map(|l| l["metadata"]["resourceVersion"].clone());
        if current.is_some_and(|current| current != body["metadata"]["resourceVersion"]) {
            return failure(409, "Conflict", "the object has been modified");
        }
        self.version += 1;
        body["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.lease = Some(body.clone());
        (200, body)
    }
}

/// An elector that runs until it is dropped.
struct Running {
    task: tokio::task::JoinHandle<()>,
    until: watch::Receiver<Until>,
}

impl Running {
    fn start(server: &Server, identity: &str) -> Self {
        Self::spawn(server.elector(identity))
    }

    fn spawn((mut elector, until): (Elector, watch::Receiver<Until>)) -> Self {
        Self {
            task: tokio::spawn(async move { elector.keep().await }),
            until,
        }
    }

    fn leads(&self) -> bool {
        self.until
            .borrow()
            .is_some_and(|until| until > Instant::now())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn one_leads_and_renews_every_two_seconds() {
    let server = Server::default();
    let one = Running::start(&server, "one");
    sleep(Duration::from_secs(1)).await;
    let two = Running::start(&server, "two");
    for _ in 0..600 {
        sleep(Duration::from_secs(1)).await;
        assert!(one.leads() && !two.leads());
    }
    drop(two);
    let before = server.with_state(|s| s.requests);
    sleep(Duration::from_secs(60)).await;
    assert_eq!(
        server.with_state(|s| s.requests) - before,
        30,
        "a renewal is one request"
    );
    assert_eq!(server.holder(), "one");
}

#[tokio::test(start_paused = true)]
async fn after_a_crash_another_leads_when_the_lease_ends() {
    let server = Server::default();
    let one = Running::start(&server, "one");
    let two = Running::start(&server, "two");
    sleep(Duration::from_secs(10)).await;
    drop(one);
    sleep(Duration::from_secs(12)).await;
    assert!(!two.leads(), "the lease has not ended");
    sleep(Duration::from_secs(6)).await;
    assert!(two.leads());
}

/// A leader that is cut off has stopped for the whole margin before another starts, at any offset
/// between their rounds.
#[tokio::test(start_paused = true)]
async fn between_two_leaders_nobody_writes_for_the_margin() {
    for late in (0..40).map(|tenths| Duration::from_millis(100 * tenths)) {
        let server = Server::default();
        let one = Running::start(&server, "one");
        sleep(late).await;
        let two = Running::start(&server, "two");
        sleep(Duration::from_secs(10)).await;
        let last = one.until.borrow().expect("it leads");
        drop(one);
        let begun = Instant::now();
        while !two.leads() {
            sleep(Duration::from_millis(50)).await;
        }
        let idle = Instant::now().saturating_duration_since(last);
        assert!(idle >= MARGIN, "{idle:?}");
        assert!(
            begun.elapsed() <= DURATION + RETRY + RETRY,
            "{:?}",
            begun.elapsed()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn without_answers_it_stops_to_lead_before_another_begins() {
    for hangs in [false, true] {
        let server = Server::default();
        let one = Running::start(&server, "one");
        sleep(Duration::from_secs(12)).await;
        assert!(one.leads());
        server.with_state(|s| {
            s.hangs = hangs;
            s.fails = Some(500);
        });
        sleep(DEADLINE).await;
        assert!(!one.leads());
        server.with_state(|s| (s.hangs, s.fails) = (false, None));
        sleep(Duration::from_secs(10)).await;
        assert!(one.leads(), "it leads again");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_reply_to_a_renewal_does_not_cost_the_lease() {
    let server = Server::default();
    let one = Running::start(&server, "one");
    sleep(Duration::from_secs(7)).await;
    server.with_state(|s| s.loses_reply = true);
    for _ in 0..60 {
        sleep(Duration::from_secs(1)).await;
        assert!(one.leads());
    }
    assert!(!server.with_state(|s| s.loses_reply), "a reply was lost");
}

#[tokio::test(start_paused = true)]
async fn who_takes_the_lease_away_is_seen_at_the_next_renewal() {
    let server = Server::default();
    let one = Running::start(&server, "one");
    sleep(Duration::from_secs(7)).await;
    server.with_state(|s| {
        s.version += 1;
        let version = json!(s.version.to_string());
        let lease = s.lease.as_mut().expect("it was taken");
        lease["spec"]["holderIdentity"] = json!("thief");
        lease["metadata"]["resourceVersion"] = version;
    });
    sleep(RENEW).await;
    assert!(!one.leads());
}

#[tokio::test(start_paused = true)]
async fn releasing_lets_another_lead_at_once_and_never_takes_long() {
    let server = Server::default();
    let (mut elector, _until) = server.elector("one");
    tokio::select! {
        () = elector.keep() => {}
        () = sleep(Duration::from_secs(7)) => {}
    }
    elector.release().await;
    assert_eq!(server.holder(), "");
    let two = Running::start(&server, "two");
    sleep(Duration::from_millis(1)).await;
    assert!(two.leads());
    drop(two);
    let (mut elector, _until) = server.elector("two");
    tokio::select! {
        () = elector.keep() => {}
        () = sleep(Duration::from_secs(40)) => {}
    }
    server.with_state(|s| s.hangs = true);
    let begun = Instant::now();
    elector.release().await;
    assert_eq!(begun.elapsed(), RELEASE);
}

#[tokio::test(start_paused = true)]
async fn it_is_given_back_although_a_renewal_was_on_its_way() {
    let server = Server::default();
    let (mut elector, _until) = server.elector("one");
    tokio::select! {
        () = elector.keep() => {}
        () = async {
            sleep(Duration::from_secs(7)).await;
            server.with_state(|s| s.loses_reply = true);
            sleep(Duration::from_secs(4)).await;
        } => {}
    }
    assert!(
        !server.with_state(|s| s.loses_reply),
        "a renewal was applied, and its reply never came"
    );
    elector.release().await;
    assert_eq!(server.holder(), "");
}

/// Without an answer or permission, the process is not ready and reports the reason.
#[tokio::test(start_paused = true)]
async fn without_its_lease_it_is_not_ready_and_names_the_reason() {
    let server = Server::default();
    server.1.started();
    server.with_state(|s| s.fails = Some(403));
    let one = Running::start(&server, "one");
    sleep(Duration::from_secs(1)).await;
    let missing = server.1.missing();
    let [(part, why)] = &*missing else {
        panic!("one part is not ready: {missing:?}");
    };
    assert_eq!(part, "lease");
    assert!(
        why.contains("Lease `lease`") && why.contains("not now"),
        "{why}"
    );
    server.with_state(|s| s.fails = None);
    sleep(RETRY).await;
    assert!(one.leads());
    assert_eq!((server.1.missing(), server.1.notes()), (vec![], vec![]));
}

/// A standby is ready, because otherwise no rollout of two replicas would end. It reports the
/// leader.
#[tokio::test(start_paused = true)]
async fn a_standby_is_ready_and_notes_who_leads() {
    let server = Server::default();
    server.1.started();
    let _one = Running::start(&server, "one");
    sleep(Duration::from_secs(1)).await;
    let health = Health::default();
    health.started();
    let standby = Server(server.0.clone(), health.clone());
    let two = Running::start(&standby, "two");
    sleep(Duration::from_secs(120)).await;
    assert!(!two.leads());
    assert_eq!(health.missing(), []);
    let note = "waiting for the Lease `lease`: held by one";
    assert_eq!(health.notes(), [("lease".to_owned(), note.to_owned())]);
    assert_eq!(server.1.notes(), []);
}

/// Clock of a machine that a user sets.
#[derive(Clone)]
struct Stepped {
    since: Instant,
    by: Arc<Mutex<jiff::SignedDuration>>,
}

impl Stepped {
    fn new() -> Self {
        Self {
            since: Instant::now(),
            by: Arc::default(),
        }
    }

    fn step(&self, hours: i64) {
        let mut by = self.by.lock().unwrap_or_else(PoisonError::into_inner);
        *by += jiff::SignedDuration::from_hours(hours);
    }
}

impl Clock for Stepped {
    fn now(&self) -> jiff::Timestamp {
        let by = *self.by.lock().unwrap_or_else(PoisonError::into_inner);
        jiff::Timestamp::UNIX_EPOCH + by + self.since.elapsed()
    }
}

/// The times in a Lease are for people: who holds the Lease, and for how long, is measured by each on its own.
#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_neither_costs_the_lease_nor_keeps_it() {
    let server = Server::default();
    let clocks = [Stepped::new(), Stepped::new()];
    let by = |name, clock: &Stepped| server.elector_by(name, Arc::new(clock.clone()));
    let one = Running::spawn(by("one", &clocks[0]));
    sleep(Duration::from_secs(1)).await;
    let two = Running::spawn(by("two", &clocks[1]));
    sleep(Duration::from_secs(3)).await;
    for (clock, hours) in [(0, 1), (0, -2), (1, 1), (1, -2), (0, 25), (1, 25)] {
        clocks[clock].step(hours);
        for _ in 0..30 {
            sleep(Duration::from_secs(1)).await;
            assert!(one.leads() && !two.leads(), "clock {clock} by {hours} h");
        }
    }
    // Its last sign of life is in the future of the other, which waits no longer for that.
    clocks[1].step(-1);
    drop(one);
    sleep(DURATION + RETRY + RETRY + RETRY).await;
    assert!(two.leads());
}

/// As where the definitions are written first, and the operator begins after that.
#[tokio::test(start_paused = true)]
async fn who_is_interrupted_in_a_renewal_goes_on_leading() {
    let server = Server::default();
    let (mut elector, until) = server.elector("one");
    tokio::select! {
        () = elector.keep() => {}
        () = async {
            sleep(Duration::from_secs(7)).await;
            server.with_state(|s| s.loses_reply = true);
            sleep(Duration::from_secs(2)).await;
        } => {}
    }
    assert!(
        !server.with_state(|s| s.loses_reply),
        "a renewal has no reply"
    );
    let one = Running::spawn((elector, until));
    for _ in 0..30 {
        sleep(Duration::from_secs(1)).await;
        assert!(one.leads());
    }
}
