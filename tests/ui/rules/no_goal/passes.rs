//! The object is as wanted in one state.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        service: owned Service by name meta.name;
    }
    states {
        Taken when service == Foreign => Error wakes service, self;
        Leaving when service == Terminating => Pending;
        Making when service in { Absent, Stale } => Pending;
        goal Up when service == Current => Ready;
    }
    effects {
        apply service;
    }
}

fn main() {}
