//! The goal is reached when nothing is left to do.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        service: owned Service by name meta.name;
    }
    states {
        Foreign when service == Foreign => Error wakes service;
        Busy when service in { Absent, Terminating, Stale } => Pending;
        goal Ready when service in { Current } => Ready;
    }
    effects {
        apply service;
    }
}

fn main() {}
