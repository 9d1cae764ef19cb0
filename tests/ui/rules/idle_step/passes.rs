//! It is drained while it is there.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        store: poll Info by meta.uid every 30s;
        service: owned Service by name meta.name;
    }
    facts {
        served: { No, Yes } from store given store;
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
        drain: call store sets { served = No } key meta.uid;
        unmake: delete service;
    }
    teardown {
        drain until served == No || service in { Absent, Foreign };
        unmake until service in { Absent, Foreign };
    }
}

fn main() {}
