//! Suspended states: a goal that says nothing of what ends it, one that asks how a write of ours went, one below a state of ours, one whose deletion
//! has nothing to wait for; and a state of ours that would let a deletion wait.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        service: owned Service by name meta.name;
    }
    facts {
        paused: bool from self;
        frozen: bool from class given class else false;
    }
    states {
        goal Paused when paused => Suspended overdue 5min;
        Failed when refused(apply_service) => Suspended wakes self;
        Missing when !class => Error even deleting wakes class;
        Taken when service == Foreign => Error wakes service;
        Frozen when frozen => Suspended even deleting wakes class;
        Busy when service != Current => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service;
    }
}

fn main() {}
