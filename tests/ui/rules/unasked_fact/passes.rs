//! It decides a state.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    facts {
        fine: bool from class given class else false;
    }
    states {
        Missing when !class => Error wakes class;
        Odd when !fine => Error wakes class;
        goal Ready when class => Ready;
    }
}

fn main() {}
