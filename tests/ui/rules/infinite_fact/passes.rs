//! A fact that is a closed set.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    facts {
        validity: { Fine, Bad } from class given class;
    }
    states {
        Missing when !class => Error wakes class;
        Wrong when validity == Bad => Error wakes class;
        goal Ready when validity == Fine => Ready;
    }
}

fn main() {}
