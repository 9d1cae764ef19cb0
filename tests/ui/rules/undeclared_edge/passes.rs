//! A promise causes an edge that is declared.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    states {
        Missing when !class => Pending;
        goal Ready when class => Ready;
    }
    promises {
        comes: !class sets { class = Present };
    }
    transitions {
        Missing -> Ready;
    }
}

fn main() {}
