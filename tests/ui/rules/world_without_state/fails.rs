//! An invalid class is no state.

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
        goal Ready when validity == Fine => Ready;
    }
}

fn main() {}
