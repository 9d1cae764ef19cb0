//! Lists lie behind what is optional and behind what is not.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        service: owned Service by name meta.name exclusive spec.ports, meta.finalizers;
    }
    states {
        Taken when service == Foreign => Error wakes service;
        Draining when service == Terminating => Pending;
        Busy when service != Current => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service;
    }
}

fn main() {}
