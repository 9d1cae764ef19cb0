//! A condition, objects and a retired record that were dropped, and a state that is not locked yet.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;
    lock "fails.lock";

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
}

fn main() {}
