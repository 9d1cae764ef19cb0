//! Two effects undo each other.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        store: poll Info by meta.uid every 30s;
    }
    facts {
        light: { Dark, Lit, Broken } from store given store;
    }
    states {
        Unseen when !store => Pending;
        Dark when light == Dark => Pending;
        Lit when light == Lit => Pending;
        goal Broken when light == Broken => Ready;
    }
    effects {
        kindle: call store when light == Dark sets { light = Lit } key meta.uid;
        darken: call store when light == Lit sets { light = Dark } key meta.uid;
    }
}

fn main() {}
