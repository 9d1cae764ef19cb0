//! Two facts, two states and a fact and an input share a name, and one name is always there.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    facts {
        shape: { Fine, Bad } from class given class;
        shape: { Round, Square } from class given class;
        class: bool from class;
        deleting: bool from class;
    }
    states {
        Missing when shape == Fine => Error wakes class;
        Missing when shape == Bad => Error wakes class;
        goal Ready when shape == Fine => Ready;
    }
}

fn main() {}
