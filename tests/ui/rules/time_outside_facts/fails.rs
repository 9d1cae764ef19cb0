//! A value, a builder, a field, a lookup, a key and what is held are told what time it is.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        now: clock;
        secret: Secret by ref from now;
        store: poll Info by now every 30s;
        service: owned Service by name meta.name;
    }
    facts {
        let spot: Spot from self, now;
        held lease: { No, Taken } from store, now given store else Unknown;
        due: bool from now;
    }
    states {
        Missing when !secret => Error wakes secret;
        Silent when lease == Unknown => Pending;
        Renting when lease == No => Pending;
        Late when due => Pending wakes now;
        Busy when service != Current => Pending wakes service;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service from spot, now;
        rent: call store when lease == No sets { lease = Taken } undo leave key meta.uid;
        leave: call store sets { lease = No } key meta.uid;
    }
    status {
        field phase: String from now;
    }
}

fn main() {}
