//! Mistakes around one owned object.

use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kube::CustomResourceExt;
use lifecycle_runtime::machine::ir::Origin;
use lifecycle_suite::resources::{Invariant, Suite};
use serde_json::{Value, json};

use super::layer::{Once, answering, changing, made_up, seeing, watching};
use super::widget::{self, Painter, Widget};
use super::{found_by, passes};
use lifecycle_tests::suites::wrapped::Wrapped;

pub(crate) fn cases() -> Vec<Case> {
    named![calculation(): without_a_mistake_a_widget_passes, a_builder_that_never_says_the_same_is_found, a_status_that_never_says_the_same_is_found, a_decision_by_the_status_is_found, a_fact_that_reads_what_it_does_not_declare_is_found, a_first_write_that_does_not_create_is_found, a_later_write_of_whatever_object_is_found, an_adopted_object_is_found, a_write_that_is_sent_twice_is_found, a_process_that_never_recovers_from_an_error_is_found, a_status_that_says_something_else_is_found, work_after_the_lease_was_lost_is_found, a_missing_watch_is_found, a_lost_wake_up_is_found, a_status_that_is_never_sent_is_found]
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
    Suite::of(machine)
        .define(&Widget::crd())
        .fixtures(FIXTURES)
        .depth(3)
        .faults(150, 30)
}

pub(super) fn plain() -> Suite {
    suite(|| widget::machine(Painter))
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

/// Whether the object that it makes is there, which a fact of the palette alone cannot know.
fn made_before(observation: &lifecycle_runtime::lifecycle::Observation) -> bool {
    let made = widget::IR.inputs.iter().position(|i| i.name == "made");
    let made = made.expect("it is declared");
    !observation.objects(made).is_empty()
}

fn a_first_write_that_does_not_create_is_found() {
    found_by(
        Invariant::HandsOff,
        plain().through(changing(|asked| {
            if asked.creates()
                && let Some(meta) = asked.body["metadata"].as_object_mut()
            {
                meta.remove("resourceVersion");
            }
        })),
    );
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
    // Whatever has the right name counts as ours.
    let owners: Arc<std::sync::Mutex<Option<Value>>> = Arc::default();
    found_by(
        Invariant::HandsOff,
        plain().through(move |client| {
            let owners = Arc::clone(&owners);
            seeing(move |event| {
                let object = &mut event["object"];
                let mut owners = owners.lock().unwrap();
                let own = object["metadata"]["ownerReferences"].clone();
                if object["kind"] == "ConfigMap" && object["metadata"]["name"] == "w" {
                    match (&*owners, own.is_null()) {
                        (_, false) => *owners = Some(own),
                        (Some(known), true) => {
                            object["metadata"]["ownerReferences"] = known.clone()
                        }
                        (None, true) => {}
                    }
                }
                true
            })(client)
        }),
    );
}

fn a_write_that_is_sent_twice_is_found() {
    found_by(
        Invariant::OneWrite,
        plain().through(answering(|client, asked| async move {
            if asked.is_write() && asked.uri.contains("/configmaps/") {
                asked.send(&client).await?;
            }
            asked.send(&client).await
        })),
    );
}

fn a_process_that_never_recovers_from_an_error_is_found() {
    found_by(
        Invariant::SameEnd,
        plain().through(|client| {
            let failed = Once::default();
            answering(move |client, asked| {
                let failed = failed.clone();
                async move {
                    if asked.is_write() && failed.has_been() {
                        return Ok(made_up(503, &unavailable()));
                    }
                    let answer = asked.send(&client).await?;
                    if answer.status().is_server_error() {
                        failed.is_first();
                    }
                    Ok(answer)
                }
            })(client)
        }),
    );
}

fn unavailable() -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 503,
        "reason": "ServiceUnavailable", "message": "the circuit is open",
    })
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
    found_by(
        Invariant::OnlyTheLeader,
        plain().through(answering(|client, asked| async move {
            let answer = asked.send(&client).await?;
            // What cannot be renewed counts as renewed.
            if asked.is_lease() && answer.status().as_u16() == 503 && !asked.body.is_null() {
                return Ok(made_up(200, &asked.body));
            }
            Ok(answer)
        })),
    );
}

fn is_palette(event: &Value) -> bool {
    event["object"]["kind"] == "ConfigMap" && event["object"]["metadata"]["name"] == "p"
}

fn a_missing_watch_is_found() {
    found_by(
        Invariant::SeesAll,
        plain().through(watching(|| {
            let listed = Once::default();
            move |event: &mut Value| {
                let end = "/object/metadata/annotations/k8s.io~1initial-events-end";
                if event.pointer(end).is_some() {
                    listed.is_first();
                }
                !(listed.has_been() && is_palette(event))
            }
        })),
    );
}

fn a_lost_wake_up_is_found() {
    // The palette is seen to come and to go, and nobody is woken when it changes.
    found_by(
        Invariant::QuietAtRest,
        plain().through(seeing(|event| {
            !(event["type"] == "MODIFIED" && is_palette(event))
        })),
    );
}

fn a_status_that_is_never_sent_is_found() {
    found_by(
        Invariant::Projection,
        plain().through(answering(|client, mut asked| async move {
            if asked.is_write()
                && let Some((object, _)) = asked.uri.clone().split_once("/status")
            {
                asked.method = http::Method::GET;
                object.clone_into(&mut asked.uri);
                asked.body = Value::Null;
            }
            asked.send(&client).await
        })),
    );
}
