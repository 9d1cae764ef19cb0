//! Runs one call from start to reply on paused time. A small lifecycle uses functions as its
//! cluster and disk.

use std::future::{pending, ready};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use lifecycle_proto::csi;
use lifecycle_proto::csi::volume_capability::{AccessMode, AccessType, MountVolume};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::call::request::CallRequest;
use crate::call::runner::CallRunner;
use crate::code::RpcError;
use crate::driver::Driver;
use crate::driver::plugin::Plugin;
use crate::served_volume::ServedVolume;
use lifecycle_client::scripted::{self, failure};
use lifecycle_runtime::health::Health;
use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::{CallError, Once, Request};
use lifecycle_runtime::machine::ir::{Code, Rpc};
use lifecycle_runtime::operator::Naming;
use lifecycle_runtime::service::Context;
use lifecycle_runtime::shutdown::{Shutdown, Trigger};
use lifecycle_runtime::{Because, ObjectRef};

/// State of the note: true if it is written.
#[derive(PartialEq)]
pub(crate) struct Ink(bool);

lifecycle_runtime::lifecycle! {
    /// A note on a page that another user creates.
    volume Note;

    observe {
        page: ConfigMap by ref from request;
        ink:  probe Ink by request.target_path;
    }
    facts {
        asked: { Mount, Block } from request;
        dry:   bool from page given page;
        held wet: bool from ink;
    }
    states {
        Written when wet;
        Blank   when !wet;
    }
    effects {
        write: call ink from page when dry sets { wet = true } undo wipe key request.target_path;
        wipe:  call ink sets { wet = false } key request.target_path;
    }
    promises {
        laid:  page == Absent  sets { page = Present };
        dries: page && !dry    sets { dry = true };
    }
    rpc {
        unfit     when asked == Block;
        unknown   never "every note can be written";
        elsewhere never "a note is on one page";
        unstaged  never "nothing is staged";
        differs   never "a note has no arguments";

        NodePublishVolume   -> Written by write within 90s else UNAVAILABLE { refused(write) => INTERNAL; }
        NodeUnpublishVolume -> Blank   by wipe { refused(wipe) => INTERNAL; }
    }
}

/// How writing goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pen {
    Fine,
    /// Takes ten seconds.
    Slow,
    Refuses,
    /// Fails the first three times.
    Stutters,
    /// Reports a write but does not write.
    Lies,
    Panics,
}

struct Desk {
    pen: Pen,
    wet: Arc<AtomicBool>,
    strokes: Arc<AtomicUsize>,
}

impl NoteLogic for Desk {
    fn page(&self, _: Request<'_>) -> Option<ObjectRef> {
        Some(ObjectRef::new::<ConfigMap>(Some("ns"), "page"))
    }
    fn probe_ink(&self, _: &str) -> impl Future<Output = Result<Ink, CallError>> + Send {
        ready(Ok(Ink(self.wet.load(Ordering::SeqCst))))
    }
    fn asked(&self, _: Request<'_>) -> Because<Asked> {
        Because::plain(Asked::Mount)
    }
    fn dry(&self, page: &ConfigMap) -> Because<bool> {
        match page
            .data
            .as_ref()
            .is_some_and(|data| data.contains_key("dry"))
        {
            true => Because::plain(true),
            false => Because::new(false, "the page is not dry yet"),
        }
    }
    fn wet(&self, ink: Option<&Ink>) -> Because<bool> {
        Because::plain(ink.is_some_and(|ink| ink.0))
    }
    fn write(
        &self,
        _: Write<'_>,
        once: Once<'_>,
    ) -> impl Future<Output = Outcome<WriteResult>> + Send {
        let stroke = self.strokes.fetch_add(1, Ordering::SeqCst);
        let (pen, wet) = (self.pen, Arc::clone(&self.wet));
        once.spend(async move {
            match pen {
                Pen::Slow => sleep(Duration::from_secs(10)).await,
                Pen::Refuses => return Err(CallError::Refused("the pen is empty".to_owned())),
                Pen::Stutters if stroke < 3 => {
                    return Err(CallError::Failed("the pen stutters".to_owned()));
                }
                Pen::Lies => return Ok(WriteResult::Wet),
                Pen::Panics => panic!("the pen breaks"),
                Pen::Fine | Pen::Stutters => {}
            }
            wet.store(true, Ordering::SeqCst);
            Ok(WriteResult::Wet)
        })
    }
    fn wipe(
        &self,
        _: Wipe<'_>,
        once: Once<'_>,
    ) -> impl Future<Output = Outcome<WipeResult>> + Send {
        self.wet.store(false, Ordering::SeqCst);
        once.spend(ready(Ok(WipeResult::NotWet)))
    }
}

/// When the page appears and when it is dry, in seconds after the start.
#[derive(Clone, Copy)]
struct Cluster {
    laid: u64,
    dry: u64,
}

const NEVER: u64 = 1 << 20;
const READY: Cluster = Cluster { laid: 0, dry: 0 };

fn page(dry: bool) -> Value {
    let data = if dry {
        json!({ "dry": "yes" })
    } else {
        json!({})
    };
    let version = if dry { "20" } else { "10" };
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": data,
        "metadata": { "name": "page", "namespace": "ns", "uid": "u", "resourceVersion": version },
    })
}

impl Cluster {
    async fn answer(self, began: Instant, uri: String) -> (u16, Value) {
        let at = |seconds: u64| began + Duration::from_secs(seconds);
        let now = Instant::now();
        if !uri.contains("watch=true") {
            return match () {
                () if now >= at(self.dry) => (200, page(true)),
                () if now >= at(self.laid) => (200, page(false)),
                () => failure(404, "NotFound", "configmaps \"page\" not found"),
            };
        }
        assert!(uri.contains("fieldSelector=metadata.name%3Dpage"), "{uri}");
        let (next, dry) = if now < at(self.laid) {
            (self.laid, self.laid >= self.dry)
        } else {
            (self.dry, true)
        };
        if next == NEVER {
            pending::<()>().await;
        }
        tokio::time::sleep_until(at(next)).await;
        (200, json!({ "type": "ADDED", "object": page(dry) }))
    }
}

struct World {
    runner: CallRunner,
    health: Health,
    strokes: Arc<AtomicUsize>,
    wet: Arc<AtomicBool>,
    /// Method and path of every request.
    sent: Arc<Mutex<Vec<String>>>,
    trigger: Trigger,
    began: Instant,
}

fn world(pen: Pen, cluster: Cluster) -> World {
    let driver = Driver::node(Plugin::new("example.org", "1"), "/note.sock", "node");
    world_of(driver, pen, cluster)
}

fn world_of(driver: Driver, pen: Pen, cluster: Cluster) -> World {
    let (trigger, shutdown) = Shutdown::pair();
    let (wet, strokes) = (Arc::default(), Arc::default());
    let desk = Desk {
        pen,
        wet: Arc::clone(&wet),
        strokes: Arc::clone(&strokes),
    };
    let (sent, began) = (Arc::new(Mutex::new(Vec::new())), Instant::now());
    let client: Client = scripted::client({
        let sent = Arc::clone(&sent);
        move |method, uri, _| {
            sent.lock()
                .expect("no panic")
                .push(format!("{method} {uri}"));
            cluster.answer(began, uri)
        }
    });
    let volume = ServedVolume {
        machine: Arc::new(machine(desk)),
        naming: Naming::new("example.org", "note"),
        driver,
    };
    let health = Health::default();
    let context = Context {
        client: Some(client),
        seed: 1,
        shutdown,
        providers: lifecycle_runtime::provider::Providers::default(),
        health: health.clone(),
        namespaces: std::collections::BTreeSet::new(),
    };
    World {
        runner: CallRunner::new(&volume, &context).expect("calls support it"),
        health,
        strokes,
        wet,
        sent,
        trigger,
        began,
    }
}

fn publish() -> CallRequest {
    publish_for("pod")
}

fn publish_for(pod: &str) -> CallRequest {
    let capability = csi::VolumeCapability {
        access_mode: Some(AccessMode { mode: 1 }),
        access_type: Some(AccessType::Mount(MountVolume::default())),
    };
    CallRequest::from(csi::NodePublishVolumeRequest {
        volume_id: "v".to_owned(),
        target_path: "/t".to_owned(),
        volume_context: [("pod".to_owned(), pod.to_owned())].into(),
        volume_capability: Some(capability),
        ..Default::default()
    })
}

fn unpublish() -> CallRequest {
    CallRequest::from(csi::NodeUnpublishVolumeRequest {
        volume_id: "v".to_owned(),
        target_path: "/t".to_owned(),
    })
}

impl World {
    async fn publish(&self) -> Result<(), RpcError> {
        let rpc = Rpc::NodePublishVolume;
        self.runner.run(rpc, publish(), None).await.map(drop)
    }

    async fn unpublish(&self) -> Result<(), RpcError> {
        let rpc = Rpc::NodeUnpublishVolume;
        self.runner.run(rpc, unpublish(), None).await.map(drop)
    }

    fn seconds(&self) -> u64 {
        self.began.elapsed().as_secs()
    }

    fn strokes(&self) -> usize {
        self.strokes.load(Ordering::SeqCst)
    }

    fn is_wet(&self) -> bool {
        self.wet.load(Ordering::SeqCst)
    }
}

fn refused(ended: Result<(), RpcError>) -> (Code, String) {
    let error = ended.expect_err("it is refused");
    (error.code, error.message)
}

#[tokio::test(start_paused = true)]
async fn an_effect_runs_once_and_a_repetition_finds_it_done() {
    let world = world(Pen::Fine, READY);
    for _ in 0..2 {
        assert_eq!(world.publish().await, Ok(()));
    }
    assert_eq!(world.strokes(), 1);
    let sent = world.sent.lock().expect("no panic").clone();
    let get = "GET /api/v1/namespaces/ns/configmaps/page";
    assert_eq!(sent.len(), 2, "one read a call: {sent:?}");
    assert!(
        sent.iter().all(|request| request.starts_with(get)),
        "{sent:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn it_waits_for_what_is_promised_and_is_woken_by_a_watch_by_name() {
    let world = world(Pen::Fine, Cluster { laid: 20, dry: 50 });
    assert_eq!(world.publish().await, Ok(()));
    assert_eq!(world.seconds(), 50);
    let sent = world.sent.lock().expect("no panic").clone();
    let lists =
        |request: &&String| request.contains("configmaps?") && !request.contains("watch=true");
    assert_eq!(sent.iter().find(lists), None);
    assert!(sent.len() <= 8, "{sent:?}");
}

#[tokio::test(start_paused = true)]
async fn when_its_time_is_over_it_says_what_is_missing() {
    let absent = world(
        Pen::Fine,
        Cluster {
            laid: NEVER,
            dry: NEVER,
        },
    );
    let said = "ConfigMap `ns/page` does not exist".to_owned();
    assert_eq!(refused(absent.publish().await), (Code::Unavailable, said));
    assert_eq!(absent.seconds(), 90);
    let wet = world(
        Pen::Fine,
        Cluster {
            laid: 0,
            dry: NEVER,
        },
    );
    let limit = Some(Instant::now() + Duration::from_secs(30));
    let ended = wet
        .runner
        .run(Rpc::NodePublishVolume, publish(), limit)
        .await;
    let said = "the page is not dry yet".to_owned();
    assert_eq!(refused(ended.map(drop)), (Code::Unavailable, said));
    assert_eq!(wet.seconds(), 25, "five seconds before its caller gives up");
}

#[tokio::test(start_paused = true)]
async fn the_opposite_call_ends_a_wait() {
    let world = world(
        Pen::Fine,
        Cluster {
            laid: NEVER,
            dry: NEVER,
        },
    );
    let (published, unpublished) = tokio::join!(world.publish(), async {
        sleep(Duration::from_secs(7)).await;
        world.unpublish().await
    });
    assert_eq!(refused(published).0, Code::Aborted);
    assert_eq!(unpublished, Ok(()));
    let calls = [
        ((Rpc::NodePublishVolume, Some(Code::Aborted)), 1),
        ((Rpc::NodeUnpublishVolume, None), 1),
    ];
    assert_eq!(world.health.counts().calls, calls.into());
    assert_eq!(world.seconds(), 7);
}

#[tokio::test(start_paused = true)]
async fn the_opposite_call_never_ends_an_effect() {
    let world = world(Pen::Slow, READY);
    let (published, unpublished) = tokio::join!(world.publish(), async {
        sleep(Duration::from_secs(3)).await;
        world.unpublish().await
    });
    assert_eq!(published, Ok(()));
    assert_eq!(unpublished, Ok(()));
    assert_eq!((world.strokes(), world.seconds()), (1, 10));
    assert!(!world.is_wet(), "what was written is wiped");
}

#[tokio::test(start_paused = true)]
async fn the_same_call_at_once_is_told_so() {
    let world = world(Pen::Slow, READY);
    let (first, second) = tokio::join!(world.publish(), world.publish());
    assert_eq!(first, Ok(()));
    assert_eq!(refused(second).0, Code::Aborted);
    assert_eq!(world.strokes(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_cuts_no_effect_short() {
    let world = world(Pen::Slow, READY);
    let given_up = tokio::time::timeout(Duration::from_secs(3), world.publish()).await;
    assert!(given_up.is_err());
    let meanwhile = world.publish().await;
    assert_eq!(
        refused(meanwhile).0,
        Code::Aborted,
        "its effect is under way"
    );
    sleep(Duration::from_secs(8)).await;
    assert!(world.is_wet());
    assert_eq!(world.publish().await, Ok(()));
    assert_eq!(world.strokes(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_while_it_waits_leaves_the_key() {
    let world = world(Pen::Fine, Cluster { laid: 40, dry: 40 });
    let given_up = tokio::time::timeout(Duration::from_secs(3), world.publish()).await;
    assert!(given_up.is_err());
    sleep(Duration::from_secs(1)).await;
    assert_eq!(world.publish().await, Ok(()));
    assert_eq!(world.seconds(), 40);
}

#[tokio::test(start_paused = true)]
async fn a_refused_effect_has_the_sentence_of_its_refusal() {
    let world = world(Pen::Refuses, READY);
    let said = (Code::Internal, "the pen is empty".to_owned());
    assert_eq!(refused(world.publish().await), said);
    assert_eq!(world.strokes(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_effect_that_fails_is_done_again_while_there_is_time() {
    let world = world(Pen::Stutters, READY);
    assert_eq!(world.publish().await, Ok(()));
    assert_eq!(world.strokes(), 4);
}

#[tokio::test(start_paused = true)]
async fn an_effect_that_never_shows_is_not_done_for_ever() {
    let world = world(Pen::Lies, READY);
    assert_eq!(refused(world.publish().await).0, Code::Internal);
    assert_eq!(world.strokes(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_panic_ends_its_call_alone() {
    let world = world(Pen::Panics, READY);
    assert_eq!(refused(world.publish().await).0, Code::Internal);
    assert_eq!(world.unpublish().await, Ok(()), "the key is free");
}

#[tokio::test(start_paused = true)]
async fn a_driver_that_stops_ends_its_waits() {
    let world = world(
        Pen::Fine,
        Cluster {
            laid: NEVER,
            dry: NEVER,
        },
    );
    let (published, ()) = tokio::join!(world.publish(), async {
        sleep(Duration::from_secs(2)).await;
        world.trigger.stop();
    });
    assert_eq!(refused(published).0, Code::Unavailable);
    assert_eq!(world.seconds(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_repetition_takes_over_what_the_very_same_request_has_read_within_the_hour() {
    let driver = Driver::node(Plugin::new("example.org", "1"), "/note.sock", "node");
    let driver = driver.remembering_for_repeats::<ConfigMap>();
    let world = world_of(driver, Pen::Fine, READY);
    let check = async |request: CallRequest, reads: usize, why: &str| {
        let before = world.sent.lock().expect("no panic").len();
        let done = world
            .runner
            .run(Rpc::NodePublishVolume, request, None)
            .await;
        assert!(done.is_ok(), "{why}");
        let sent = world.sent.lock().expect("no panic").len() - before;
        assert_eq!(sent, reads, "{why}");
    };
    check(publish(), 1, "nothing is known").await;
    for _ in 0..3 {
        sleep(Duration::from_secs(75)).await;
        check(publish(), 0, "all is known").await;
    }
    check(publish_for("another"), 1, "it is for another Pod").await;
    check(publish_for("another"), 0, "which is known now").await;
    check(publish(), 1, "the target was another Pod's").await;
    world.wet.store(false, Ordering::SeqCst);
    check(publish(), 1, "what is to be done is read anew").await;
    assert_eq!(world.strokes(), 2);
    sleep(Duration::from_secs(3600)).await;
    check(publish(), 1, "it was long ago").await;
    assert_eq!(world.unpublish().await, Ok(()));
    check(publish(), 1, "it was taken back").await;
    assert_eq!(world.strokes(), 3);
}

#[tokio::test(start_paused = true)]
async fn without_a_kind_that_is_remembered_every_call_reads() {
    let world = world(Pen::Fine, READY);
    for call in 1..4 {
        assert_eq!(world.publish().await, Ok(()));
        assert_eq!(world.sent.lock().expect("no panic").len(), call);
    }
}
