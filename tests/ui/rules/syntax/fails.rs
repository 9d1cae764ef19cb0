//! Two items are spelled wrong; what mentions the lost fact stays silent. Messages do not close their braces, or hold no path in them.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    facts {
        validity: { Fine, Bad } form class given class;
    }
    states {
        Missing if !class => Error wakes class;
        Wrong when validity == Bad => Error wakes class;
        goal Ready when validity == Fine => Ready;
    }
    status {
        condition Valid {
            False "Missing" "{spec.class is missing" when !class;
            False "Bad" "spec.class} is bad" when validity == Bad;
            False "Odd" "{spec .class} is {}" when validity == Bad;
            True otherwise;
        }
    }
}

fn main() {}
