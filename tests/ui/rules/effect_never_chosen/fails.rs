//! An effect needs the class exactly where there is none.

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
        full: apply service from class;
        plain: apply service from class when !class;
    }
}

fn main() {}
