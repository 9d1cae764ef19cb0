//! Mistakes around one owned object.

use lifecycle_tests::harness::Case;
use lifecycle_tests::mistakes::Mistake;
use lifecycle_tests::named;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kube::CustomResourceExt;
use lifecycle_runtime::machine::ir::Origin;
use lifecycle_suite::resources::{Invariant, Suite};
use serde_json::json;

use super::layer::changing;
use super::widget::{self, Painter, Widget};
use super::{found_by, passes};
use lifecycle_tests::suites::wrapped::Wrapped;

pub(crate) fn cases() -> Vec<Case> {
    named![calculation(): without_a_mistake_a_widget_passes, a_builder_that_never_says_the_same_is_found, a_status_that_never_says_the_same_is_found, a_decision_by_the_status_is_found, a_fact_that_reads_what_it_does_not_declare_is_found, a_first_write_that_does_not_create_is_found, a_later_write_of_whatever_object_is_found, an_adopted_object_is_found, a_write_that_is_sent_twice_is_found, a_process_that_never_recovers_from_an_error_is_found, a_status_that_says_something_else_is_found, work_after_the_lease_was_lost_is_found, a_missing_watch_is_found, a_takeover_that_nobody_sees_is_found, a_lost_wake_up_is_found, a_status_that_is_never_sent_is_found]
}

const FIXTURES: &str = "
variant: plain
apiVersion: tests.lifecycle/v1
kind: Widget
metadata: { name: w }
spec: { palette: p, size: 3 }
---
variant: huge
apiVersion: tests.lifecycle/v1
kind: Widget
metadata: { name: w }
spec: { palette: p, size: 10 }
---
variant: nameless
apiVersion: tests.lifecycle/v1
kind: Widget
metadata: { name: w }
spec: { size: 3 }
---
variant: red
apiVersion: v1
kind: ConfigMap
metadata: { name: p }
data: { colour: red }
---
variant: blue
apiVersion: v1
kind: ConfigMap
metadata: { name: p }
data: { colour: blue }
";

fn suite<M: lifecycle_runtime::Machine>(machine: impl Fn() -> M + Send + Sync + 'static) -> Suite {
    Suite::for_machine(machine)
        .define(&Widget::crd())
        .fixtures(FIXTURES)
        .depth(3)
        .faults(150, 30)
}

pub(super) fn plain() -> Suite {
    suite(|| widget::machine(Painter))
}

/// Returns the suite of a Widget whose connection to the server has this bug.
fn mistaken(mistake: Mistake) -> Suite {
    plain().through(move |client| mistake.line("Widget", client))
}

fn var(name: &str) -> usize {
    let ir = widget::IR;
    let at = ir
        .vars
        .iter()
        .position(|v| v.name == name && !matches!(v.origin, Origin::Refused(_)));
    at.expect("it is declared")
}

fn without_a_mistake_a_widget_passes() {
    passes(plain());
}

fn a_builder_that_never_says_the_same_is_found() {
    let count = Arc::new(AtomicU64::new(0));
    // The runtime slows it down, so that it works on and on and yet not all the time.
    found_by(
        Invariant::Settles,
        suite(move || {
            let count = Arc::clone(&count);
            Wrapped::new(widget::machine(Painter)).build(move |_, _, mut object| {
                let number = count.fetch_add(1, Ordering::SeqCst);
                object["data"]["number"] = json!(number.to_string());
                object
            })
        }),
    );
}

fn a_status_that_never_says_the_same_is_found() {
    let count = Arc::new(AtomicU64::new(0));
    found_by(
        Invariant::NoHotLoop,
        suite(move || {
            let count = Arc::clone(&count);
            Wrapped::new(widget::machine(Painter)).field(move |_, field, value| {
                if widget::IR.fields[field].name != "made" {
                    return value;
                }
                json!(count.fetch_add(1, Ordering::SeqCst).to_string())
            })
        }),
    );
}

fn a_decision_by_the_status_is_found() {
    let validity = var("validity");
    found_by(
        Invariant::SameEnd,
        suite(move || {
            Wrapped::new(widget::machine(Painter)).fact(move |observation, var, mut answer| {
                let raw = observation.subject().raw.as_deref();
                let phase = raw.and_then(|raw| raw.pointer("/status/phase"));
                // Once wrong, always wrong.
                if var == validity && phase == Some(&json!("Error")) {
                    answer.value = 1;
                }
                answer
            })
        }),
    );
}

fn a_fact_that_reads_what_it_does_not_declare_is_found() {
    let validity = var("validity");
    found_by(
        Invariant::DeclaredOutcome,
        suite(move || {
            Wrapped::new(widget::machine(Painter)).fact(move |observation, var, mut answer| {
                let raw = observation.subject().raw.as_deref();
                let made = raw.and_then(|raw| raw.pointer("/metadata/annotations/made"));
                if var == validity && (made.is_some() || made_before(observation)) {
                    answer.value = 1;
                }
                answer
            })
        }),
    );
}

/// Returns true if the object that the lifecycle makes exists. A fact of the palette alone cannot
/// know this.
fn made_before(observation: &lifecycle_runtime::lifecycle::Observation) -> bool {
    let made = widget::IR.inputs.iter().position(|i| i.name == "made");
    let made = made.expect("it is declared");
    !observation.objects(made).is_empty()
}

fn a_first_write_that_does_not_create_is_found() {
    found_by(Invariant::HandsOff, mistaken(Mistake::Creation));
}

fn a_later_write_of_whatever_object_is_found() {
    found_by(
        Invariant::HandsOff,
        plain().through(changing(|asked| {
            if asked.uri.contains("/configmaps/")
                && let Some(meta) = asked.body["metadata"].as_object_mut()
            {
                meta.remove("uid");
            }
        })),
    );
}

fn an_adopted_object_is_found() {
    // Any object with the right name counts as ours.
    found_by(Invariant::HandsOff, mistaken(Mistake::Adoption));
}

fn a_write_that_is_sent_twice_is_found() {
    found_by(Invariant::OneWrite, mistaken(Mistake::Twice));
}

fn a_process_that_never_recovers_from_an_error_is_found() {
    found_by(Invariant::SameEnd, mistaken(Mistake::Breakdown));
}

fn a_status_that_says_something_else_is_found() {
    found_by(
        Invariant::Projection,
        plain().through(changing(|asked| {
            if asked.uri.contains("/status")
                && let Some(phase) = asked.body.pointer_mut("/status/phase")
            {
                *phase = json!("Ready");
            }
        })),
    );
}

fn work_after_the_lease_was_lost_is_found() {
    // A Lease that cannot be renewed counts as renewed.
    found_by(Invariant::OnlyTheLeader, mistaken(Mistake::Lease));
}

fn a_takeover_that_nobody_sees_is_found() {
    found_by(Invariant::OursAgain, mistaken(Mistake::Takeover));
}

fn a_missing_watch_is_found() {
    found_by(Invariant::SeesAll, mistaken(Mistake::Blindness));
}

fn a_lost_wake_up_is_found() {
    // The creation and deletion of the palette are observed, but no reconciliation is triggered by
    // its changes.
    found_by(Invariant::QuietAtRest, mistaken(Mistake::Deafness));
}

fn a_status_that_is_never_sent_is_found() {
    found_by(Invariant::Projection, mistaken(Mistake::Silence));
}
