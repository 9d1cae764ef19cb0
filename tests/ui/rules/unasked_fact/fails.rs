//! The state of the class decides nothing. The finding is a warning, which is refused here.

#![deny(deprecated)]

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    facts {
        fine: bool from class given class else false;
    }
    states {
        Missing when !class => Error wakes class;
        goal Ready when class => Ready;
    }
}

fn main() {}
