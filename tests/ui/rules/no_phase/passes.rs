//! Every state has one of the three phases.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    facts {
        shape: { Fine, Bad } from class given class;
    }
    states {
        Missing when !class => Error wakes class;
        Wrong when shape == Bad => Error wakes class;
        goal Ready when shape == Fine => Ready;
    }
}

fn main() {}
