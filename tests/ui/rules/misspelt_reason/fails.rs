//! A sentence stands where a reason is one word. The finding is a warning, which is refused here.

#![deny(deprecated)]

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
        condition Stored { True when class; False "no class" otherwise; }
        ready from Stored;
    }
}

fn main() {}
