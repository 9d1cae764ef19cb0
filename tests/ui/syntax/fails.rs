//! Two items are spelled wrong; what mentions the lost fact stays silent.

use lifecycle_runtime::lifecycle;
use lifecycle_tests::kinds::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    facts {
        shape: { Fine, Bad } form class given class;
    }
    states {
        Missing if !class => Error wakes class;
        Wrong when shape == Bad => Error wakes class;
        goal Ready when shape == Fine => Ready;
    }
}

fn main() {}
