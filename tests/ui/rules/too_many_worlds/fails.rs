//! Five questions are asked in every world.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    facts {
        one: { A, B, C, D, E, F, G, H } from class given class;
        two: { A, B, C, D, E, F, G, H } from class given class;
        three: { A, B, C, D, E, F, G, H } from class given class;
        four: { A, B, C, D, E, F, G, H } from class given class;
        five: { A, B, C, D, E, F, G, H } from class given class;
    }
    states {
        Missing when !class => Error wakes class;
        Odd when one == B || two == B || three == B || four == B || five == B => Error wakes class;
        goal Ready when class => Ready;
    }
}

fn main() {}
