//! Facts of one input may rule each other out.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    facts {
        size: { Small, Large } from class;
        full: bool from class;
        never size == Large && full;
    }
    states {
        Full when full => Error wakes class;
        Large when size == Large => Error wakes class;
        goal Ready when size == Small => Ready;
    }
}

fn main() {}
