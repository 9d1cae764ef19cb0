//! Authors whose methods do not behave as expected. No type and no checker can detect it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lifecycle_runtime::lifecycle::{Machine, Observation, Stored};
use serde_json::{Value, json};

use crate::suites::wrapped::Wrapped;

/// Annotation that makes each built object a different one.
const NUMBER: &str = "tests.lifecycle/number";

/// Every object that is built is another one each time.
pub(super) fn never_the_same(machine: Arc<dyn Machine>) -> Arc<dyn Machine> {
    let count = AtomicU64::new(0);
    let build = move |_: &Observation, _: usize, mut object: Value| {
        // A record is no object.
        if object.is_object() {
            let number = count.fetch_add(1, Ordering::SeqCst).to_string();
            object["metadata"]["annotations"][NUMBER] = json!(number);
        }
        object
    };
    Arc::new(Wrapped::around(machine).build(build))
}

/// Changes the desired object on every call while the object does not exist. Once it exists, it
/// counts as desired. A refused write therefore counts as a different one each time.
pub(super) fn refused_is_another(machine: Arc<dyn Machine>) -> Arc<dyn Machine> {
    let (count, ir) = (AtomicU64::new(0), machine.ir());
    let build = move |observation: &Observation, effect: usize, mut object: Value| {
        let target = ir.effects[effect].target;
        if !object.is_object() {
            return object;
        }
        let is = |live: &&Arc<Stored>| {
            let name = live.meta.name.as_deref();
            !ir.inputs[target].many || name == object["metadata"]["name"].as_str()
        };
        let number = match observation.objects(target).iter().find(is) {
            None => Some(count.fetch_add(1, Ordering::SeqCst).to_string()),
            Some(live) => {
                let annotations = live.meta.annotations.as_ref();
                annotations.and_then(|all| all.get(NUMBER).cloned())
            }
        };
        if let Some(number) = number {
            object["metadata"]["annotations"][NUMBER] = json!(number);
        }
        object
    };
    Arc::new(Wrapped::around(machine).build(build))
}

/// Every text in a field of the status is another one each time.
pub(super) fn field_never_the_same(machine: Arc<dyn Machine>) -> Arc<dyn Machine> {
    let count = AtomicU64::new(0);
    let field = move |_: &Observation, _: usize, value: Value| match value.is_string() {
        true => json!(count.fetch_add(1, Ordering::SeqCst).to_string()),
        false => value,
    };
    Arc::new(Wrapped::around(machine).field(field))
}

/// Replaces every cleanup by an effect that does nothing.
pub(super) fn idle_undo(machine: Arc<dyn Machine>) -> Arc<dyn Machine> {
    let ir = machine.ir();
    Arc::new(Wrapped::around(machine).idle(move |effect| ir.effects[effect].is_undo))
}

/// Returns the first value for every fact once the status reports an error.
pub(super) fn by_the_status(machine: Arc<dyn Machine>) -> Arc<dyn Machine> {
    let wrapped = Wrapped::around(machine).fact(|observation, _, mut answer| {
        let raw = observation.subject().raw.as_deref();
        let rows = raw.and_then(|raw| raw.pointer("/status/conditions")?.as_array());
        let mut rows = rows.into_iter().flatten();
        if rows.any(|row| row["status"] == "False") {
            answer.value = 0;
        }
        answer
    });
    Arc::new(wrapped)
}
