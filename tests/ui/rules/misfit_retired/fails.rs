//! A state that is not there, and objects that were never ours.

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
        state Broken now Takn;
        class: ConfigMap by name spec.class deleted;
        part: part Node by name spec.node released;
        finalizer "thing";
    }
}

fn main() {}
