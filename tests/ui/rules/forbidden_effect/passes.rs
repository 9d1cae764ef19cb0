//! It is put while the guide allows it, which may end at any time.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        guide: ConfigMap by name spec.class;
        store: poll Info by meta.uid every 2s;
    }
    facts {
        frozen: bool from guide given guide else false;
        entry: { Stale, Current } from store given store;
    }
    states {
        Silent when !store => Pending;
        Frozen when entry == Stale && frozen => Pending wakes guide, self;
        Putting when entry == Stale => Pending;
        goal Ready when entry == Current => Ready;
    }
    effects {
        put: call store when !frozen && entry == Stale sets { entry = Current } key meta.uid;
    }
    properties {
        never put while frozen;
    }
}

fn main() {}
