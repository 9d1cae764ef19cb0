//! Two effects undo each other in different worlds.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        store: poll Info by meta.uid every 30s;
    }
    facts {
        wanted: bool from class;
        lit: bool from store given store;
    }
    states {
        Unseen when !store => Pending;
        Lighting when wanted && !lit => Pending;
        Darkening when !wanted && lit => Pending;
        Dark when !wanted => Pending wakes class;
        goal Lit when lit => Ready;
    }
    effects {
        light: call store when wanted && !lit sets { lit = true } key meta.uid;
        darken: call store when !wanted && lit sets { lit = false } key meta.uid;
    }
}

fn main() {}
