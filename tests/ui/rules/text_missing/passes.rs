//! A message takes in what the object has.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    states {
        Missing when !class => Error wakes class;
        goal Ready when class => Ready;
    }
    status {
        condition Classed {
            False "Missing" "{meta.name} has no {spec.class}" when !class;
            True otherwise;
        }
    }
}

fn main() {}
