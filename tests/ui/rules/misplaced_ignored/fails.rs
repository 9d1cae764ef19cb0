//! States for objects of another controller: a goal that waits, one below a state of ours, and one that asks how a write of ours went.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        service: owned Service by name meta.name;
    }
    facts {
        keeper: { Ours, Other, Nobody } from class given class;
    }
    states {
        goal Theirs when keeper == Other => Ignored wakes class overdue 5min;
        Unwanted when keeper == Nobody && refused(apply_service) => Ignored;
        Missing when !class => Error wakes class;
        Taken when service == Foreign => Error wakes service;
        Nobodys when keeper == Nobody => Ignored;
        Busy when service != Current => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service;
    }
}

fn main() {}
