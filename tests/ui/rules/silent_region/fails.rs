//! Regions that do not count for Ready have no condition, or do not mention a refusal.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe { secret: owned Secret by name meta.name; }
    states {
        Taken when secret == Foreign => Error wakes secret, self;
        Draining when secret == Terminating => Pending;
        Making when secret in { Absent, Stale } => Pending;
    }
    effects { apply secret; }
    status {
        condition Prepared {
            False "NameTaken" when secret == Foreign;
            True when secret == Current;
            Unknown "Working" otherwise;
        }
        ready from Prepared;
    }

    region serve {
        observe { service: owned Service by name meta.name; }
        states {
            Occupied when service == Foreign => Error wakes service, self;
            Leaving when service == Terminating => Pending;
            Rejected when refused(apply_service) => Error wakes self;
            Serving when service in { Absent, Stale } => Pending;
            goal Up when service == Current => Ready;
        }
        effects { apply service; }
    }

    region expose {
        observe { map: owned ConfigMap by name meta.name; }
        states {
            Blocked when map == Foreign => Error wakes map, self;
            Clearing when map == Terminating => Pending;
            Waiting when map in { Absent, Stale } && serve != Up => Pending wakes serve;
            Opening when map in { Absent, Stale } => Pending;
            goal Open when map == Current => Ready;
        }
        effects { apply map when serve == Up; }
        status {
            condition Exposed {
                False "NameTaken" when map == Foreign;
                True when map == Current;
                Unknown "Working" otherwise;
            }
        }
    }
}

fn main() {}
