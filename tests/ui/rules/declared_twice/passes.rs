//! A state, a fact and a condition may share words in different spelling, and the roll-up of a condition `Readied` is no second one.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    facts {
        ready: { Yes, No } from class given class else No;
    }
    states {
        Missing when !class => Error wakes class;
        Unready when ready == No => Error wakes class;
        goal Ready when ready == Yes => Ready;
    }
    status {
        condition Stored { True when ready == Yes; False "Missing" otherwise; }
        condition Readied { True when class; False "Missing" otherwise; }
        ready from Stored, Readied;
    }
}

fn main() {}
