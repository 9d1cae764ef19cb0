//! Two effects undo each other.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        store: poll Info by meta.uid every 30s;
    }
    facts {
        lit: bool from store given store;
    }
    states {
        Unseen when !store => Pending;
        Dark when !lit => Pending;
        Lit when lit => Pending;
    }
    effects {
        light: call store when !lit sets { lit = true } key meta.uid;
        darken: call store when lit sets { lit = false } key meta.uid;
    }
}

fn main() {}
