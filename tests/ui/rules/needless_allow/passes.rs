//! Nothing reads the input, and its author says why that is meant so.

#![deny(deprecated)]

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        other: ConfigMap by name meta.name;
    }
    states {
        Missing when !class => Error wakes class;
        goal Ready when class => Ready;
    }
    status {
        condition Stored { True when class; False "Missing" otherwise; }
        ready from Stored;
    }
    allow LC064 other "it wakes the object";
}

fn main() {}
