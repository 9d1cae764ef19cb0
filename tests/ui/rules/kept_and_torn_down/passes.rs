//! The stage of the teardown is over if the Service is to stay.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    allow LC132 service "no Thing of the same name comes again";

    observe {
        service: owned Service by name meta.name retain when keeps;
    }
    facts {
        keeps: bool from self;
    }
    states {
        Taken when service == Foreign => Error wakes service, self;
        Leaving when service == Terminating => Pending;
        Making when service in { Absent, Stale } => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service;
        unmake: delete service;
    }
    teardown {
        unmake until service in { Absent, Foreign } || keeps;
    }
}

fn main() {}
