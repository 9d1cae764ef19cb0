//! The Service stays when the Thing goes, and the next Thing of this name finds it in its way. The finding is a warning, which is refused here.

#![deny(deprecated)]

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        service: owned Service by name meta.name retain;
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
}

fn main() {}
