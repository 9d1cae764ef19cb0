//! A state waits for something that does not decide it.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        secret: Secret by name meta.name;
    }
    states {
        Missing when !class => Error wakes secret;
        Naked when !secret => Error wakes secret;
        goal Ready when class => Ready;
    }
}

fn main() {}
