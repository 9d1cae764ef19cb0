//! Whatever has the name is taken over. The finding is a warning, which is refused here.

#![deny(deprecated)]

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        service: owned Service by name meta.name;
    }
    states {
        Taken when service == Foreign => Error wakes service, self;
        Adopting when service == Adoptable => Pending;
        Draining when service == Terminating => Pending;
        Applying when service != Current => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service;
        adopt service;
    }
}

fn main() {}
