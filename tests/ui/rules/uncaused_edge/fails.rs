//! An edge that only the outside causes.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    states {
        Missing when !class => Pending wakes class;
        goal Ready when class => Ready;
    }
    transitions {
        Missing -> Ready;
    }
}

fn main() {}
