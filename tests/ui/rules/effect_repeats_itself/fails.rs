//! An effect may leave a stale entry stale and would run again.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        store: poll Info by meta.uid every 30s;
    }
    facts {
        entry: { No, Stale, Current } from store given store else Unseen;
    }
    states {
        Unseen when entry == Unseen => Pending;
        Making when entry == No => Pending;
        Waiting when entry == Stale => Pending wakes store;
        goal Ready when entry == Current => Ready;
    }
    effects {
        put: call store when entry in { No, Stale } sets { entry = Current } or { entry = Stale } key meta.uid;
    }
}

fn main() {}
