//! A keeper is said to have kept a promise in the same state twice.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        service: owned Service by name meta.name;
    }
    facts {
        started: bool from service given service == Current else false;
    }
    states {
        NoClass when !class => Error wakes class;
        Taken when service == Foreign => Error wakes service, self;
        Leaving when service == Terminating => Pending;
        Making when service in { Absent, Stale } => Pending;
        Starting when !started => Pending;
        goal Ready when started => Ready;
    }
    effects {
        apply service from class;
    }
    promises {
        starts claimed by Keeper in Serving | Ready | Serving: service == Current && !started sets { started = true };
    }
}

fn main() {}
