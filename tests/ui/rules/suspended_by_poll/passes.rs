//! The object is suspended by a watched input. The poll reports something else, and is not queried meanwhile.

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
        frozen: bool from class given class else false;
        full: bool from store given store else false;
    }
    states {
        Frozen when frozen => Suspended wakes class;
        Full when full => Error wakes store;
        Taken when service == Foreign => Error wakes service;
        Busy when service != Current => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service;
    }
}

fn main() {}
