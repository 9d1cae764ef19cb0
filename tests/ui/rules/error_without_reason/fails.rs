//! In an Error nobody is told what to do.

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
        condition Stored { True when class; Unknown "Waiting" otherwise; }
        ready from Stored;
    }
}

fn main() {}
