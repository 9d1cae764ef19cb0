//! One name is misspelled in a declaration whose logic is written: only that is said, and not that methods and types are unknown.

use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::{CallError, Once};
use lifecycle_runtime::{Because, This, lifecycle};
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        store: poll Info by meta.uid every 30s;
    }
    facts {
        entry: { No, Current } from store given store else Unseen;
        full: bool from store given stor;
    }
    states {
        Unseen when entry == Unseen => Pending;
        Full when full => Error wakes store;
        Making when entry == No => Pending;
        goal Ready when entry == Current => Ready;
    }
    effects {
        put: call store when entry == No sets { entry = Current } key meta.uid;
    }
}

include!("../../src/beside_logic.txt");

fn main() {}
