//! A state waits for what decides it, and for something else.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        secret: Secret by name meta.name;
    }
    states {
        Missing when !class => Error wakes class, secret;
        Naked when !secret => Error wakes secret;
        goal Ready when class => Ready;
    }
}

fn main() {}
