//! The class need only be made, and the Thing seems to wait for its owner. The finding is a warning, which is refused here.

#![deny(deprecated)]

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        peers: [ConfigMap] by namespace;
        service: owned Service by name meta.name;
    }
    facts {
        shape: { Fine, Bad } from peers;
    }
    states {
        Invalid when shape == Bad => Error wakes self;
        NoClass when class == Absent => Error wakes self;
        Taken when service == Foreign => Error wakes service, self;
        Leaving when service == Terminating => Pending;
        Making when service in { Absent, Stale } => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service from class when shape == Fine;
    }
}

fn main() {}
