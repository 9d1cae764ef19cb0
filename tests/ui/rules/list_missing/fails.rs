//! Of what is exclusively ours one list does not exist, and the other is none.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        service: owned Service by name meta.name exclusive spec.portals, spec.cluster_ip;
    }
    states {
        Taken when service == Foreign => Error wakes service;
        Draining when service == Terminating => Pending;
        Busy when service != Current => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service;
    }
}

fn main() {}
