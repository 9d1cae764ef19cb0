//! A state waits for nothing.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    states {
        Missing when !class => Pending;
        goal Ready when class => Ready;
    }
}

fn main() {}
