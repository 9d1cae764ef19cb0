//! A watch that nothing needs. The finding is a warning, which is refused here.

#![deny(deprecated)]

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        nodes: [Node] by labels { NAME = meta.name };
    }
    states {
        Missing when !class => Error wakes class;
        goal Ready when class => Ready;
    }
}

fn main() {}
