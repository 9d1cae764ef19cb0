//! Every dropped item is retired, and everything is locked.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;
    lock "passes.lock";

    observe {
        service: owned Service by name meta.name;
    }
    states {
        Taken when service == Foreign => Error wakes service;
        Busy when service != Current => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service;
    }
    status {
        condition Served {
            True when service == Current;
            False "Taken" when service == Foreign;
            Unknown "Making" otherwise;
        }
    }
    retired {
        condition Made now Served;
        record number;
        secret: owned Secret by name meta.name deleted;
    }
}

fn main() {}
