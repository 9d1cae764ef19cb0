//! An owned object goes with its owner, unless it is retained. An adoption declares its `when`.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        service: owned Service by name meta.name retain;
    }
    facts {
        consent: bool from self;
    }
    states {
        Taken when service == Foreign => Error wakes service, self;
        Waiting when service == Adoptable && !consent => Error wakes service, self;
        Adopting when service == Adoptable => Pending;
        Draining when service == Terminating => Pending;
        Applying when service != Current => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service;
        adopt service when consent;
    }
}

fn main() {}
