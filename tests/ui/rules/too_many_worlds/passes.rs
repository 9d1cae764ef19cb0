//! Each question is asked only where the one before is answered by `A`.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    facts {
        one: { A, B, C, D, E, F, G, H } from class given class;
        two: { A, B, C, D, E, F, G, H } from class given class && one == A;
        three: { A, B, C, D, E, F, G, H } from class given class && two == A;
        four: { A, B, C, D, E, F, G, H } from class given class && three == A;
        five: { A, B, C, D, E, F, G, H } from class given class && four == A;
    }
    states {
        Missing when !class => Error wakes class;
        goal Ready when class => Ready;
    }
}

fn main() {}
