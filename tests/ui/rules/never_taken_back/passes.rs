//! The author says why no other comes.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        service: owned Service by name meta.uid retain;
    }
    states {
        Taken when service == Foreign => Error wakes service, self;
        Draining when service == Terminating => Pending;
        Applying when service != Current => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service;
    }
    allow LC132 service "its name is the uid: none of this name comes again";
}

fn main() {}
