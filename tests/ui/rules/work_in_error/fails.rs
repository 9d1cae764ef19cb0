//! A Service is made from an object of which its owner is told that it is wrong, and before somebody makes the class that is waited for. The finding is a warning, which is refused here.

#![deny(deprecated)]

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
        apply service;
    }
}

fn main() {}
