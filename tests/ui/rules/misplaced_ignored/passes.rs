//! Two states for objects of another controller stand above all of ours, and nothing is told of them.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        service: owned Service by name meta.name;
    }
    facts {
        keeper: { Ours, Other, Nobody } from class given class else Ours;
    }
    states {
        Theirs when keeper == Other => Ignored;
        Nobodys when keeper == Nobody => Ignored;
        Missing when !class => Error wakes class;
        Taken when service == Foreign => Error wakes service;
        Draining when service == Terminating => Pending;
        Busy when service != Current => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service when class;
    }
    transitions {
        Draining -> Busy;
        Busy -> Ready;
    }
    status {
        condition Served {
            False "NoClass" when !class;
            False "Taken" when service == Foreign && keeper == Ours;
            Unknown "Busy" when service != Current && keeper == Ours;
            True when keeper == Ours;
        }
        ready from Served;
    }
}

fn main() {}
