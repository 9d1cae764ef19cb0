//! The thing that the first stage of the teardown stops stays off.

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
        power: { Off, On } from store given store;
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
        stop: call store sets { power = Off } key meta.uid;
        unmake: delete service;
    }
    teardown {
        stop until power == Off;
        unmake until service in { Absent, Foreign };
    }
}

fn main() {}
