//! Nothing is made before it is right.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        service: owned Service by name meta.name;
    }
    facts {
        shape: { Fine, Bad } from self;
    }
    states {
        Invalid when shape == Bad => Error wakes self;
        Waiting when !class => Pending wakes class, self;
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
