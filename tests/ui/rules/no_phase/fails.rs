//! One state has no phase, another has one of its own.

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
        Missing when !class;
        Wrong when shape == Bad => Broken;
        goal Ready when shape == Fine => Ready;
    }
}

fn main() {}
