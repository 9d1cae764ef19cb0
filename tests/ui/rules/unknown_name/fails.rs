//! A fact, a value, a state, an effect, a condition and a section are misspelled.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    fact {
        validity: { Fine, Bad } from class given class;
    }
    states {
        Missing when !clas => Error wakes class;
        Wrong when validity == Bat => Error wakes class;
        Stuck when refused(aply_class) => Error wakes self;
        goal Ready when validity == Fine => Ready;
    }
    transitions {
        Missing -> Redy;
    }
    status {
        condition Stored { True when validity; }
        ready from Stord;
    }
}

fn main() {}
