//! The reason is one word, and the sentence stands behind it.

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
        condition Stored { True when class; False "NoClass" "no class" otherwise; }
        ready from Stored;
    }
}

fn main() {}
