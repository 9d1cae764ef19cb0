//! A state waits for a time that leads out of some of its worlds, and for something else.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        now: clock;
        class: ConfigMap by name spec.class;
    }
    facts {
        due: bool from now;
    }
    states {
        Missing when !class && due => Error wakes class, now;
        Waiting when !class => Pending wakes class, now;
        Late when due => Pending wakes now;
        goal Ready when class => Ready;
    }
}

fn main() {}
