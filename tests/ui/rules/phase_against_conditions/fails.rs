//! The phase says Pending where every condition is True.

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
        condition Stored { True otherwise; }
        ready from Stored;
    }
}

fn main() {}
