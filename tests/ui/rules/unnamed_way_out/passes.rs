//! Whoever makes the class is named; what a set says is beside the Thing.

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
        NoClass when class == Absent => Error wakes class, self;
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
