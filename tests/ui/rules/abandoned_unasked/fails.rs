//! Without a class nobody asks which key it has, and that counts as none; and a store that has not answered counts as gone.

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
        key: { None, Right } from class given class;
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
        drain until served == No;
        unmake until service in { Absent, Foreign } || !store;
        abandoned when key == None "there is no key that opens the store";
        abandoned when store == Unknown "the store is gone";
    }
}

fn main() {}
