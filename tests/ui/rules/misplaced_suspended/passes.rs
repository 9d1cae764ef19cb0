//! Ownership is checked first, then the two causes of suspension. In one of the two suspended states, a held resource stays even while the object is deleted.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        store: poll Info by meta.uid every 30s;
    }
    facts {
        keeper: { Ours, Other } from self;
        paused: bool from self;
        frozen: bool from class given class else false;
        held entry: { No | Stale, Current } from store given store else Unseen;
    }
    states {
        Elsewhere when keeper == Other => Ignored;
        Paused when paused => Suspended wakes self;
        Frozen when frozen => Suspended even deleting wakes class;
        Unseen when entry == Unseen => Pending;
        Making when entry in { No, Stale } => Pending;
        goal Ready when entry == Current => Ready;
    }
    effects {
        put: call store when entry in { No, Stale } sets { entry = Current } undo take_back key meta.uid;
        take_back: call store sets { entry = No } key meta.uid;
    }
}

fn main() {}
