//! Time leads from one rest to another, and a goal is left by it: neither brings the object on where only somebody else can help.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        now: clock;
        service: owned Service by name meta.name;
    }
    facts {
        window: { Closed, Open } from self, now;
    }
    states {
        Shut when window == Closed && service != Current => Pending wakes self, now;
        Taken when service == Foreign => Error wakes service, self;
        Leaving when service == Terminating => Pending;
        Making when service != Current => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service when window == Open;
    }
}

fn main() {}
