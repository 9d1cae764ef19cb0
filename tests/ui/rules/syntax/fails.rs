//! Two items are spelled wrong; what mentions the lost fact stays silent. Messages do not close their braces, or hold no path in them.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

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
    status {
        condition Shaped {
            False "Missing" "{spec.class is missing" when !class;
            False "Bad" "spec.class} is bad" when shape == Bad;
            False "Odd" "{spec .class} is {}" when shape == Bad;
            True otherwise;
        }
    }
}

fn main() {}
