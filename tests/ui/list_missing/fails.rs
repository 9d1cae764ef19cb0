//! Of what is ours as a whole one list does not exist, and the other is none.

use lifecycle_runtime::lifecycle;
use lifecycle_tests::kinds::*;

lifecycle! {
    resource Thing;

    observe {
        service: owned Service by name meta.name whole spec.portals, spec.cluster_ip;
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
