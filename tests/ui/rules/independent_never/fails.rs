//! A world is ruled out that the outside can bring about.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        secret: Secret by name meta.name;
    }
    facts {
        never !class && secret;
    }
    states {
        Missing when !class => Error wakes class;
        goal Ready when class => Ready;
    }
}

fn main() {}
