//! Whoever edits the name leaves the Service of the old one behind. The finding is a warning, which is refused here.

#![deny(deprecated)]

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        service: owned Service by name spec.class;
    }
    states {
        Taken when service == Foreign => Error wakes service, self;
        Leaving when service == Terminating => Pending;
        Making when service in { Absent, Stale } => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service;
    }
}

fn main() {}
