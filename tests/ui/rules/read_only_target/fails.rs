//! An effect writes what is only watched, and one calls an object.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        service: owned Service by name meta.name;
    }
    states {
        Missing when !class => Error wakes class;
        Foreign when service == Foreign => Error wakes service;
        Busy when service != Current => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply class;
        make: call service sets { service = Current } key meta.uid;
    }
}

fn main() {}
