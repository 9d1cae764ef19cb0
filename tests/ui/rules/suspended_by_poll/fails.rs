//! The object is suspended by a poll answer, and the poll is no longer queried while suspended.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        store: poll Info by meta.uid every 30s;
        service: owned Service by name meta.name;
    }
    facts {
        frozen: bool from store given store else false;
    }
    states {
        Frozen when frozen => Suspended wakes store;
        Taken when service == Foreign => Error wakes service;
        Busy when service != Current => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service;
    }
}

fn main() {}
