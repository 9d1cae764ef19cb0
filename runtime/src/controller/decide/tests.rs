//! Decisions about one thing of a class, from its memory and the other activity.

use serde_json::{Value, json};

use super::*;
use crate::cluster::fixture::{Caches, maker, names, thing};
use crate::controller::report::{Notes, draft};
use crate::controller::trace::{Move, Written};
use crate::lifecycle::Machine;
use crate::machine::backoff::Backoff;

const SECOND: Duration = Duration::from_secs(1);
const RESYNC: Duration = Duration::from_secs(3600);
const MADE: usize = 0;

fn class(size: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": "c", "namespace": "ns" }, "data": { "size": size },
    })
}

/// Returns a thing beside these objects, without any reported status.
fn seen(objects: &[Value]) -> Inspection {
    let machine = maker();
    let (ir, caches) = (machine.ir(), Caches::with_objects(objects));
    let observed = caches.observe(thing(json!({ "className": "c" }), json!({})));
    let world = &observed.observation.world;
    let (class, next) = (ir.classify(world, false), ir.next(world, false));
    let notes = Notes {
        class,
        next,
        fields: &names(&machine),
        failure: None,
        ruled_out: None,
        trouble: None,
        overdue: None,
        owes_recovery: false,
        now: jiff::Timestamp::UNIX_EPOCH,
    };
    let report = Some(draft(&machine, &observed.observation, &notes));
    Inspection {
        ir,
        report,
        observed,
        class,
        next,
        ruled_out: None,
        unanswered_until: None,
        overdue_at: None,
    }
}

fn decided_at(now: Instant, seen: &Inspection, memory: &ObjectMemory, is_taken: bool) -> Move {
    let at = PassContext {
        now,
        leads_until: Some(now + RESYNC),
        resync: now + RESYNC,
        is_taken: &|_| is_taken,
        is_turn: &|_| Ok(()),
    };
    decide(seen, memory, &at).as_move()
}

fn decided(seen: &Inspection, memory: &ObjectMemory) -> Move {
    decided_at(Instant::now(), seen, memory, false)
}

/// Returns the identity of the first write of the thing, for refusals and failures of its effect.
fn first_write(seen: &Inspection) -> crate::cluster::observe::WriteId {
    seen.observed.plans[MADE][0].id.clone()
}

#[tokio::test(start_paused = true)]
async fn an_effect_comes_before_the_status_that_it_changes() {
    let (seen, memory) = (seen(&[class("small")]), ObjectMemory::default());
    assert_eq!(decided(&seen, &memory), Move::Write(Written::Effect(MADE)));
    let again = (decided(&seen, &memory), decided(&seen, &memory));
    assert_eq!(again.0, again.1, "nothing is noted by deciding");
}

#[tokio::test(start_paused = true)]
async fn a_status_that_differs_for_a_second_is_told_although_an_effect_is_due() {
    let (seen, mut memory) = (seen(&[class("small")]), ObjectMemory::default());
    let now = Instant::now();
    memory.differs_since = Some(now);
    let at = |after| decided_at(now + after, &seen, &memory, false);
    assert_eq!(at(SECOND / 2), Move::Write(Written::Effect(MADE)));
    assert_eq!(at(SECOND), Move::Write(Written::Status));
}

#[tokio::test(start_paused = true)]
async fn what_failed_waits_and_the_status_is_told_meanwhile() {
    let (mut seen, mut memory) = (seen(&[class("small")]), ObjectMemory::default());
    let (what, why) = (WriteKind::Effect(MADE), ("no".to_owned(), true));
    let wait = memory.pause(what, first_write(&seen), why, (Backoff::OBJECT, None), 0);
    let now = Instant::now();
    // It is Pending, but nothing is promised while its own effect waits.
    assert_eq!(decided(&seen, &memory), Move::Write(Written::Status));
    seen.report = None;
    assert_eq!(
        decided(&seen, &memory),
        Move::Wait(now + wait, WaitReason::Failed)
    );
    let later = decided_at(now + wait, &seen, &memory, false);
    assert_eq!(later, Move::Write(Written::Effect(MADE)));
}

#[tokio::test(start_paused = true)]
async fn a_refused_write_waits_and_another_one_does_not() {
    let (mut seen, mut memory) = (seen(&[class("small")]), ObjectMemory::default());
    seen.report = None;
    let refusal = ("no".to_owned(), Backoff::REFUSED);
    memory.refuse(MADE, first_write(&seen), refusal, 0);
    assert!(matches!(
        decided(&seen, &memory),
        Move::Wait(_, WaitReason::Refused)
    ));
    seen.observed.plans[MADE][0].id.desired += 1;
    assert_eq!(decided(&seen, &memory), Move::Write(Written::Effect(MADE)));
}

#[tokio::test(start_paused = true)]
async fn what_another_object_writes_is_written_after_it() {
    let (seen, memory) = (seen(&[class("small")]), ObjectMemory::default());
    let now = Instant::now();
    let decided = decided_at(now, &seen, &memory, true);
    assert_eq!(decided, Move::Wait(now + RESYNC, WaitReason::Writing));
}

#[tokio::test(start_paused = true)]
async fn a_call_needs_a_lease_that_outlives_it() {
    let (mut seen, memory) = (seen(&[class("small")]), ObjectMemory::default());
    seen.observed.plans[MADE][0].job = Job::Call;
    let now = Instant::now();
    let leads = |until: Option<Duration>| {
        let at = PassContext {
            now,
            leads_until: until.map(|until| now + until),
            resync: now + RESYNC,
            is_taken: &|_| true,
            is_turn: &|_| Ok(()),
        };
        decide(&seen, &memory, &at).as_move()
    };
    let waits = Move::Wait(now + LEASE_RENEWAL, WaitReason::Lease);
    assert_eq!([leads(None), leads(Some(LONGEST_CALL / 2))], [waits; 2]);
    let leaves = Move::Write(Written::Call(MADE));
    assert_eq!(leads(Some(LONGEST_CALL)), leaves);
}

#[tokio::test(start_paused = true)]
async fn where_nothing_is_to_be_done_it_says_so_once_and_rests() {
    let (mut seen, memory) = (seen(&[class("big")]), ObjectMemory::default());
    assert_eq!(decided(&seen, &memory), Move::Write(Written::Status));
    seen.report = None;
    assert_eq!(decided(&seen, &memory), Move::Rest);
    let now = Instant::now();
    seen.unanswered_until = Some(now + SECOND);
    seen.overdue_at = Some(now + 2 * SECOND);
    let waits = Move::Wait(now + SECOND, WaitReason::Unanswered);
    assert_eq!(decided(&seen, &memory), waits);
    seen.unanswered_until = None;
    let waits = Move::Wait(now + 2 * SECOND, WaitReason::Overdue);
    assert_eq!(decided(&seen, &memory), waits);
}
