//! Two lifecycles stand in one module, each with its logic: that is said once, and not of each name that both generate.

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
        full: bool from store given store;
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

lifecycle! {
    resource Keeper;

    facts {
        good: bool from self;
    }
    states {
        Bad when !good => Error wakes self;
        goal Ready when good => Ready;
    }
}

struct Other;

impl KeeperLogic for Other {
    fn good(&self, this: This<'_, Keeper>) -> Because<bool> {
        Because::plain(!this.spec.class.is_empty())
    }
}

fn main() {}
