//! The column shows a field that nobody writes. The finding is a warning, which is refused here.

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
        field phase = phase;
        column Phase ".status.state";
        column Class ".spec.class";
    }
}

fn main() {}
