//! LC072: the logic lacks a poll and a fact.

use lifecycle_runtime::{Because, This, lifecycle};
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        store: poll Info by meta.uid every 30s;
    }
    facts {
        entry: { No, Current } from store given store else Unseen;
        full: bool from store given store;
    }
    states {
        Unseen when entry == Unseen => Pending;
        Full when full => Error wakes store;
        Missing when entry == No => Error wakes store;
        goal Ready when entry == Current => Ready;
    }
}

struct Logic;

impl ThingLogic for Logic {
    fn full(&self, this: This<'_, Thing>, store: &Info) -> Because<bool> {
        Because::plain(store.name == this.spec.class)
    }
}

fn main() {}
