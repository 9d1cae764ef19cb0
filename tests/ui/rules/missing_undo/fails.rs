//! A held resource is acquired without an undo.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        store: poll Info by meta.uid every 30s;
    }
    facts {
        held entry: { No | Stale, Current } from store given store else Unseen;
    }
    states {
        Unseen when entry == Unseen => Pending;
        Refusing when refused(put) => Error wakes self;
        Making when entry in { No, Stale } => Pending;
        goal Ready when entry == Current => Ready;
    }
    effects {
        put: call store when entry in { No, Stale } sets { entry = Current } key meta.uid;
        take_back: call store sets { entry = No } key meta.uid;
    }
}

fn main() {}
