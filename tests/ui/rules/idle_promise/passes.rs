//! The object waits for a Service that has not started.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        service: owned Service by name meta.name;
    }
    facts {
        started: bool from service given service == Current else false;
    }
    states {
        Taken when service == Foreign => Error wakes service, self;
        Leaving when service == Terminating => Pending;
        Making when service in { Absent, Stale } => Pending;
        Starting when !started => Pending;
        goal Ready when started => Ready;
    }
    effects {
        apply service;
    }
    promises {
        starts: service == Current && !started sets { started = true };
    }
}

fn main() {}
