//! A state that is there, and objects that were ours.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

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
    retired {
        state Broken now Taken;
        class: owned ConfigMap by name spec.class deleted;
        part: part Node by name spec.class deleted;
        finalizer "example.com/thing";
    }
}

fn main() {}
