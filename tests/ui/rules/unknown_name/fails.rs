//! A fact, a value, a state, an effect, a condition and a section are misspelled.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    fact {
        shape: { Fine, Bad } from class given class;
    }
    states {
        Missing when !clas => Error wakes class;
        Wrong when shape == Bat => Error wakes class;
        Stuck when refused(aply_class) => Error wakes self;
        goal Ready when shape == Fine => Ready;
    }
    transitions {
        Missing -> Redy;
    }
    status {
        condition Stored { True when shape; }
        ready from Stord;
    }
}

fn main() {}
