//! None of these can fail.

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
        always frozen || !frozen in Ready;
        always entry == Current in Deleting;
        always entry == Stale in Putting at rest;
        never put while entry == Stale && entry == Current;
        put before put;
        reaches Ready from Ready;
    }
}

fn main() {}
