//! A held resource is released: the undo is accepted, and the environment completes it.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        store: poll Info by meta.uid every 30s;
    }
    facts {
        held entry: { No | Stale, Current, Going } from store given store else Unseen;
    }
    states {
        Unseen when entry == Unseen => Pending;
        Refusing when refused(put) => Error wakes self;
        Leaving when entry == Going => Pending;
        Making when entry in { No, Stale } => Pending;
        goal Ready when entry == Current => Ready;
    }
    effects {
        put: call store when entry in { No, Stale } sets { entry = Current } undo take_back key meta.uid;
        take_back: call store sets { entry = Going } key meta.uid;
    }
    promises {
        goes: entry == Going sets { entry = No };
    }
}

fn main() {}
