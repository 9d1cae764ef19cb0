//! A shared Service goes with the last that contributes to it; and an adoption builds nothing.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        service: shared Service by name meta.name retain;
        secret: owned Secret by name meta.name retain;
        class: Class by name spec.class_name;
    }
    states {
        NoClass when !class => Error wakes class, self;
        Applying when service != Current || secret in { Absent, Stale } => Pending;
        Taken when secret in { Foreign, Adoptable } => Error wakes secret, self;
        Draining when secret == Terminating => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service;
        apply secret;
        adopt secret from class when class;
    }
}

fn main() {}
