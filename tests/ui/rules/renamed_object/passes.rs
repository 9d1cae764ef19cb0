//! What is left of an old name is deleted.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        service: owned Service by name spec.class;
        old: owned [Service] by owner;
    }
    states {
        Taken when service == Foreign => Error wakes service, self;
        Leaving when service == Terminating => Pending;
        Making when service in { Absent, Stale } => Pending;
        Tidying when old in { Surplus, Draining } => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service;
        delete each old;
    }
}

fn main() {}
