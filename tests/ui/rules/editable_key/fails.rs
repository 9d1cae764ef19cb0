//! An external resource is identified by a field that its owner may edit. The finding is a warning, which is refused here.

#![deny(deprecated)]

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        zone: poll Info by meta.uid every 30s;
    }
    facts {
        held entry: { No | Current } from zone given zone else Unseen;
    }
    states {
        Unseen when entry == Unseen => Pending;
        Refusing when refused(put) => Error wakes self;
        Making when entry == No => Pending;
        goal Ready when entry == Current => Ready;
    }
    effects {
        put: call zone when entry == No sets { entry = Current } undo take_back key spec.class;
        take_back: call zone sets { entry = No } key spec.class;
    }
}

fn main() {}
