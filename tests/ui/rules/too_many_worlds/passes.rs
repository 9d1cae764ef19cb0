//! Each question is asked only where the one before is answered by `A`.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    facts {
        one: { A, B, C, D, E, F, G, H } from class given class else A;
        two: { A, B, C, D, E, F, G, H } from class given class && one == A else A;
        three: { A, B, C, D, E, F, G, H } from class given class && two == A else A;
        four: { A, B, C, D, E, F, G, H } from class given class && three == A else A;
        five: { A, B, C, D, E, F, G, H } from class given class && four == A else A;
    }
    states {
        Missing when !class => Error wakes class;
        Odd when one == B || two == B || three == B || four == B || five == B => Error wakes class;
        goal Ready when class => Ready;
    }
}

fn main() {}
