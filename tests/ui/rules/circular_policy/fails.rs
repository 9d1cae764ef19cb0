//! Whether the Service stays is read from the Service; and whether it is taken over, from what is not ours yet.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        service: owned Service by name meta.name retain when precious;
    }
    facts {
        precious: bool from service given service in { Stale, Current };
        consent: bool from service;
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
