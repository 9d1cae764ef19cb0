//! Names may be declared after they are used.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    status {
        condition Stored { True when class && validity == Fine; False "Wrong" otherwise; }
        ready from Stored;
    }
    facts {
        validity: { Fine, Bad } from class given class;
    }
    states {
        Missing when !class => Error wakes class;
        Wrong when validity == Bad => Error wakes class;
        goal Ready when validity == Fine => Ready;
    }
    observe {
        class: ConfigMap by name spec.class;
    }
}

fn main() {}
