//! No state waits for the object that is made when the main object goes.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        store: poll Info by meta.uid every 30s;
        service: owned Service by name meta.name;
        other: owned Secret by name meta.name;
    }
    states {
        Missing when !class => Error wakes class;
        Unseen when !store => Pending;
        Taken when service == Foreign => Error wakes service;
        Busy when service != Current => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        make: apply service from class when class;
        serve: apply other from class;
        unmake: delete service;
    }
    teardown {
        serve until other in { Current, Foreign } || !class;
        unmake until service in { Absent, Foreign };
    }
}

fn main() {}
