//! Nothing is made before it is right.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        service: owned Service by name meta.name;
    }
    facts {
        shape: { Fine, Bad } from self;
    }
    states {
        Invalid when shape == Bad => Error wakes self;
        Taken when service == Foreign => Error wakes service, self;
        Leaving when service == Terminating => Pending;
        Making when service in { Absent, Stale } => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service when shape == Fine;
    }
}

fn main() {}
