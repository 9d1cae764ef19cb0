//! Sections may come in any order, and lists may end with a comma.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    states {
        Missing when !class => Error wakes class;
        Wrong when validity not in { Fine, } => Error wakes class;
        goal Ready when class => Ready;
    }
    status {
        condition Valid {
            False "Missing" "{spec.class} is {{missing}}" when !class;
            True otherwise;
        }
    }
    facts {
        validity: { Fine, Bad, } from class given class;
    }
    observe {
        class: ConfigMap by name spec.class;
    }
}

fn main() {}
