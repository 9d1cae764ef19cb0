//! The goal is reached while the Service still differs.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        service: owned Service by name meta.name;
    }
    states {
        Foreign when service == Foreign => Error wakes service;
        Busy when service in { Absent, Terminating } => Pending;
        goal Ready when service in { Stale, Current } => Ready;
    }
    effects {
        apply service;
    }
}

fn main() {}
