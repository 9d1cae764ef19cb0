//! Volumes whose provider does one thing at a time. Their polls and calls run one after the other,
//! and calls that are ready run before polls. No volume waits for ever, even beside one that polls
//! without end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Result, ensure};
use futures::future::join_all;
use lifecycle_csi::in_process::{CsiRequest, InProcessDriver};
use lifecycle_csi::{Driver, Plugin, Volumes};
use lifecycle_proto::csi;
use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::{CallError, Once};
use lifecycle_runtime::machine::ir::Code;
use lifecycle_runtime::provider::{Limit, ProviderCounts, Providers};
use lifecycle_runtime::shutdown::{Shutdown, Trigger};
use lifecycle_runtime::{Because, lifecycle};
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use lifecycle_tests::volumes::client::{Running, mount};
use tokio::time::{Instant, sleep};

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = named![case(&[]): volumes_over_a_socket_take_turns_at_their_disk];
    cases.extend(named![paused(): what_is_ready_to_be_called_goes_before_what_asks, one_that_asks_without_end_keeps_nobody_from_its_turn, a_clerk_that_wants_to_be_left_alone_is_and_all_are_served_after_it]);
    cases
}

/// Duration of each request at the clerk.
const TAKES: Duration = Duration::from_secs(1);
/// No caller waits longer.
const LIMIT: Duration = Duration::from_secs(600);

lifecycle! {
    /// A place on a shelf, which one clerk finds and fills.
    volume ShelfMount;

    observe {
        place: poll TargetState of clerk by request.target_path every 1s;
    }
    facts {
        free:        { Yes, No }  from place given place == Known;
        held filled: { No | Yes } from place given place == Known else Unknown;
    }
    states {
        Filled when filled == Yes;
        Empty  when filled != Yes;
    }
    effects {
        fill:  call place when free == Yes && filled == No sets { filled = Yes } undo clear key request.target_path;
        clear: call place when filled == Yes sets { filled = No } key request.target_path;
    }
    promises {
        freed: free == No && filled == No sets { free = Yes };
    }
    rpc {
        unfit     never "a shelf takes anything";
        unknown   never "every volume has a place";
        elsewhere never "a volume may be at many places";
        differs   never "there is nothing to tell apart";

        NodePublishVolume -> filled == Yes by fill within 300s else UNAVAILABLE {
            refused(fill) => INTERNAL;
        }
        NodeUnpublishVolume -> filled == No by clear within 300s else UNAVAILABLE {
            refused(clear) => INTERNAL;
        }
    }
}

/// Answer of the clerk about a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TargetState {
    is_free: bool,
    is_filled: bool,
}

/// Record of the clerk's actions, in order: `poll a`, `fill a`.
#[derive(Clone, Default)]
struct Clerk {
    did: Arc<Mutex<Vec<String>>>,
    /// How many times the clerk still wants to be left alone.
    tired: Arc<Mutex<u32>>,
}

impl Clerk {
    fn notes(&self) -> Vec<String> {
        lock(&self.did).clone()
    }

    async fn perform(&self, what: &str, target: &str) -> Result<(), CallError> {
        let name = target.trim_start_matches('/');
        lock(&self.did).push(format!("{what} {name}"));
        sleep(TAKES).await;
        let mut tired = lock(&self.tired);
        if *tired == 0 {
            return Ok(());
        }
        *tired -= 1;
        let (why, after) = ("too many requests".to_owned(), Duration::from_secs(20));
        Err(CallError::Later { why, after })
    }

    /// Returns true if a place was filled and not cleared since.
    fn is_filled(&self, target: &str) -> bool {
        let name = target.trim_start_matches('/');
        let notes = self.notes();
        let mut notes = notes.iter().rev();
        let last = notes
            .find(|note| **note == format!("fill {name}") || **note == format!("clear {name}"));
        last.is_some_and(|note| note.starts_with("fill"))
    }
}

impl ShelfMountLogic for Clerk {
    async fn poll_place(&self, target_path: &str) -> Result<TargetState, CallError> {
        self.perform("poll", target_path).await?;
        Ok(TargetState {
            is_free: !target_path.contains("never"),
            is_filled: self.is_filled(target_path),
        })
    }
    fn free(&self, place: &TargetState) -> Because<Free> {
        match place.is_free {
            true => Because::plain(Free::Yes),
            false => Because::new(Free::No, "somebody else's things are there"),
        }
    }
    fn filled(&self, place: &TargetState) -> Because<Filled> {
        Because::plain(match place.is_filled {
            true => Filled::Yes,
            false => Filled::No,
        })
    }
    fn fill(
        &self,
        at: Fill<'_>,
        once: Once<'_>,
    ) -> impl Future<Output = Outcome<FillResult>> + Send {
        let target = at.request.target_path().unwrap_or_default().to_owned();
        once.spend(async move {
            self.perform("fill", &target).await?;
            Ok(FillResult::Yes)
        })
    }
    fn clear(
        &self,
        at: Clear<'_>,
        once: Once<'_>,
    ) -> impl Future<Output = Outcome<ClearResult>> + Send {
        let target = at.request.target_path().unwrap_or_default().to_owned();
        once.spend(async move {
            self.perform("clear", &target).await?;
            Ok(ClearResult::No)
        })
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a driver of a shelf whose clerk does one thing at a time, until its trigger is dropped.
fn shelf(clerk: &Clerk) -> (InProcessDriver, Providers, Trigger) {
    let driver = Driver::node(
        Plugin::new("shelf.example.org", "1.0"),
        "unix:///n.sock",
        "n",
    );
    let volumes = Volumes::new("shelf.example.org")
        .serve(machine(clerk.clone()), driver)
        .provider("clerk", Limit::new().in_flight(1));
    let providers = volumes.providers();
    let (trigger, shutdown) = Shutdown::pair();
    let served = volumes.into_served();
    let made = InProcessDriver::with_providers(served, None, (1, &shutdown), &providers);
    (made.unwrap(), providers, trigger)
}

fn publish(name: &str) -> CsiRequest {
    CsiRequest::Publish(csi::NodePublishVolumeRequest {
        volume_id: name.to_owned(),
        target_path: format!("/{name}"),
        volume_capability: Some(mount()),
        ..Default::default()
    })
}

fn counts(providers: &Providers) -> ProviderCounts {
    let mut counts = providers.counts();
    counts.pop_first().unwrap().1
}

/// Of each volume the position of its last question and of its call.
fn turns(notes: &[String], name: &str) -> (usize, usize) {
    let at = |what: &str| {
        notes
            .iter()
            .rposition(|note| *note == format!("{what} {name}"))
    };
    let filled = at("fill").unwrap_or_else(|| panic!("`{name}` was not filled: {notes:?}"));
    let asked = notes[..filled]
        .iter()
        .rposition(|note| *note == format!("poll {name}"));
    (asked.unwrap(), filled)
}

async fn what_is_ready_to_be_called_goes_before_what_asks() {
    const MANY: usize = 12;
    let clerk = Clerk::default();
    let (driver, providers, _trigger) = shelf(&clerk);
    let names: Vec<String> = (0..MANY).map(|n| format!("v{n}")).collect();
    let began = Instant::now();
    let published = join_all(names.iter().map(|name| driver.call(publish(name), LIMIT))).await;
    for answer in published {
        assert!(answer.is_ok(), "{:?}", answer.err());
    }
    let (notes, counts) = (clerk.notes(), counts(&providers));
    for name in &names {
        let (asked, filled) = turns(&notes, name);
        // While it takes its answer in, one other has the turn already; all that wait then come after its call.
        let between = notes[asked + 1..filled].iter();
        let questions = between.filter(|note| note.starts_with("poll")).count();
        assert!(
            questions <= 1,
            "`{name}` waits for {questions} questions: {notes:?}"
        );
    }
    assert_eq!((counts.calls, counts.most_in_flight), (12, 1), "{counts:?}");
    assert_eq!((counts.in_flight, counts.waiting), (0, 0), "{counts:?}");
    // Each volume is polled before it is filled and after it. That takes three seconds a volume,
    // and none waits longer than all others take.
    let all = TAKES * u32::try_from(3 * MANY).unwrap();
    assert!(counts.longest_wait <= all, "{counts:?}");
    assert!(
        began.elapsed() <= all + TAKES,
        "{:?}: {notes:?}",
        began.elapsed()
    );
}

async fn one_that_asks_without_end_keeps_nobody_from_its_turn() {
    let clerk = Clerk::default();
    let (driver, providers, _trigger) = shelf(&clerk);
    let names: Vec<String> = (0..8).map(|n| format!("v{n}")).collect();
    let began = Instant::now();
    let others = async {
        sleep(TAKES * 3).await;
        let published = join_all(names.iter().map(|name| driver.call(publish(name), LIMIT))).await;
        (published, began.elapsed())
    };
    let (waits, (published, took)) = futures::join!(driver.call(publish("never"), LIMIT), others);
    assert!(
        matches!(&waits, Err((Code::Unavailable, why)) if why.contains("somebody else's things")),
        "{:?}",
        waits.err()
    );
    assert!(published.iter().all(Result::is_ok), "{:?}", clerk.notes());
    // It polls on and on, and each of the others has a turn between two of its polls.
    assert!(
        took <= TAKES * 3 + TAKES * 8 * 5,
        "{took:?}: {:?}",
        clerk.notes()
    );
    assert_eq!(counts(&providers).most_in_flight, 1);
}

async fn a_clerk_that_wants_to_be_left_alone_is_and_all_are_served_after_it() {
    let clerk = Clerk::default();
    *lock(&clerk.tired) = 2;
    let (driver, providers, _trigger) = shelf(&clerk);
    let names = ["a", "b", "c"];
    let began = Instant::now();
    let published = join_all(names.map(|name| driver.call(publish(name), LIMIT))).await;
    assert!(published.iter().all(Result::is_ok), "{:?}", clerk.notes());
    let (counts, took) = (counts(&providers), began.elapsed());
    assert_eq!((counts.held, counts.most_in_flight), (2, 1), "{counts:?}");
    assert!(took >= Duration::from_secs(40), "{took:?}");
    assert!(
        took <= Duration::from_secs(40) + TAKES * 15,
        "{took:?}: {:?}",
        clerk.notes()
    );
}

async fn volumes_over_a_socket_take_turns_at_their_disk() -> Result<()> {
    const MANY: usize = 24;
    let (driver, providers) = Running::limited(Limit::new().in_flight(1)).await?;
    let way = async |name: String| {
        let id = driver.make(&name).await?;
        let deleted = csi::DeleteVolumeRequest {
            volume_id: id.clone(),
            ..Default::default()
        };
        driver.controller.clone().delete_volume(deleted).await?;
        Ok::<_, tonic::Status>(id)
    };
    let names = (0..MANY).map(|n| format!("volume-{n}"));
    let ids = join_all(names.map(way)).await;
    let ids = ids.into_iter().collect::<Result<Vec<_>, _>>()?;
    ensure!(ids.len() == MANY);
    let counts = counts(&providers);
    ensure!(
        counts.calls == 2 * 24,
        "each is made once and removed once: {counts:?}"
    );
    ensure!(counts.most_in_flight == 1, "{counts:?}");
    ensure!((counts.in_flight, counts.waiting) == (0, 0), "{counts:?}");
    driver.stop().await?;
    Ok(())
}
