//! A state waits for a time that changes nothing there.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        now: clock;
        class: ConfigMap by name spec.class;
    }
    facts {
        due: bool from class, now given class;
    }
    states {
        Missing when !class => Error wakes class, now;
        Late when due => Pending wakes now;
        goal Ready when class => Ready;
    }
}

fn main() {}
