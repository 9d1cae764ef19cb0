//! Seeded bugs around a list that is exclusively ours, and around an object that another controller
//! manages.

use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use std::sync::atomic::{AtomicBool, Ordering};

use kube::CustomResourceExt;
use lifecycle_suite::resources::{Invariant, Suite};

use super::lamp::{self, Electrician, Lamp};
use super::{found_by, passes};
use lifecycle_tests::suites::wrapped::Wrapped;

pub(crate) fn cases() -> Vec<Case> {
    named![calculation(): without_a_mistake_a_lamp_passes, a_lifecycle_that_leaves_what_others_put_into_its_list_is_found, a_runtime_that_does_not_know_ignored_states_is_found]
}

const FIXTURES: &str = "
variant: lamp
apiVersion: tests.lifecycle/v1
kind: Lamp
metadata: { name: l }
spec: { grid: g }
---
variant: one
apiVersion: v1
kind: ConfigMap
metadata: { name: g }
data: { web: '80' }
---
variant: two
apiVersion: v1
kind: ConfigMap
metadata: { name: g }
data: { web: '80', more: '90' }
---
variant: kept
apiVersion: v1
kind: ConfigMap
metadata: { name: g }
data: { keeper: somebody }
";

fn suite<M: lifecycle_runtime::Machine>(machine: impl Fn() -> M + Send + Sync + 'static) -> Suite {
    Suite::for_machine(machine)
        .define(&Lamp::crd())
        .fixtures(FIXTURES)
        .depth(3)
        .faults(150, 30)
}

fn without_a_mistake_a_lamp_passes() {
    passes(suite(|| lamp::machine(Electrician)));
}

fn a_lifecycle_that_leaves_what_others_put_into_its_list_is_found() {
    // The suite uses the declaration, and the running lifecycle lacks the word.
    let is_declaration = AtomicBool::new(true);
    found_by(
        Invariant::ExclusiveLists,
        suite(move || {
            let whole = Wrapped::new(lamp::machine(Electrician));
            match is_declaration.swap(false, Ordering::SeqCst) {
                true => whole,
                false => whole.declared(lamp::bare::IR),
            }
        }),
    );
}

fn a_runtime_that_does_not_know_ignored_states_is_found() {
    let is_declaration = AtomicBool::new(true);
    found_by(
        Invariant::HandsOff,
        suite(move || {
            let whole = Wrapped::new(lamp::machine(Electrician));
            match is_declaration.swap(false, Ordering::SeqCst) {
                true => whole,
                false => whole.declared(lamp::told::IR),
            }
        }),
    );
}
