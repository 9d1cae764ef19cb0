//! The cleanup of a held resource needs no other input.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        store: poll Info by meta.uid every 30s;
    }
    facts {
        held entry: { No | Stale, Current } from store given store else Unseen;
    }
    states {
        Missing when !class => Error wakes class;
        Unseen when entry == Unseen => Pending;
        Refusing when refused(put) => Error wakes self;
        Making when entry in { No, Stale } => Pending;
        goal Ready when entry == Current => Ready;
    }
    effects {
        put: call store from class when entry in { No, Stale } sets { entry = Current } undo take_back key meta.uid;
        take_back: call store sets { entry = No } key meta.uid;
    }
}

fn main() {}
