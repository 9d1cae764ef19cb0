//! It shows one that is written, and one that is no matter of the status.

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
        column Phase ".status.phase";
        column Class ".spec.class";
    }
}

fn main() {}
