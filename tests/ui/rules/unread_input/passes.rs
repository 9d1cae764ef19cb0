//! A set that only a field of the status is made of.

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
    status {
        condition Stored { True when class; False "Missing" otherwise; }
        ready from Stored;
        field spots: usize from nodes;
    }
}

fn main() {}
