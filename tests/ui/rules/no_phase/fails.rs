//! One state has no phase, another has one of its own.

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
        Missing when !class;
        Wrong when validity == Bad => Broken;
        goal Ready when validity == Fine => Ready;
    }
}

fn main() {}
