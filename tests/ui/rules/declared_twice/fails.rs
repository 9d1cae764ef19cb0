//! Two facts, two states and a fact and an input share a name, one name is always there, and a condition has the name of the roll-up.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    facts {
        validity: { Fine, Bad } from class given class;
        validity: { Valid, Invalid } from class given class;
        class: bool from class;
        deleting: bool from class;
    }
    states {
        Missing when validity == Fine => Error wakes class;
        Missing when validity == Bad => Error wakes class;
        goal Ready when validity == Fine => Ready;
    }
    status {
        condition Ready { True when validity == Fine; False "Bad" otherwise; }
        ready from Ready;
    }
}

fn main() {}
