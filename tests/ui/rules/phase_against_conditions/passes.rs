//! The phase says Pending where a condition is Unknown.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    states {
        Missing when !class => Pending wakes class;
        goal Ready when class => Ready;
    }
    status {
        condition Stored { True when class; Unknown "Waiting" otherwise; }
        ready from Stored;
    }
}

fn main() {}
