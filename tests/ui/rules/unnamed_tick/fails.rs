//! A state says that only the owner of the object helps, and the time does. The finding is a warning, which is refused here.

#![deny(deprecated)]

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
        Taken when service == Foreign => Error wakes service, self;
        Leaving when service == Terminating => Pending;
        Shut when window == Closed && service != Current => Pending wakes self;
        Making when service != Current => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service when window == Open;
    }
}

fn main() {}
