//! A fact reads a shared value, and `wakes` names the object itself.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    facts {
        let spot: Spot from class;
        validity: { Fine, Bad } from spot, class given class;
    }
    states {
        Missing when !class => Error wakes class, self;
        Wrong when validity == Bad => Error wakes self, class;
        goal Ready when validity == Fine => Ready;
    }
}

fn main() {}
