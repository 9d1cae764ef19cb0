//! A region reads and writes what belongs to others, and the root asks a region.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe { secret: owned Secret by name meta.name; }
    states {
        Taken when secret == Foreign => Error wakes secret, self;
        Draining when secret == Terminating => Pending;
        Making when secret in { Absent, Stale } && serve != Up => Pending;
    }
    effects { apply secret; }
    status { ready from Served, Exposed; }

    region serve {
        observe { service: owned Service by name meta.name; }
        states {
            Occupied when service == Foreign => Error wakes service, self;
            Asleep when secret == Stale => Suspended wakes self;
            goal Up when service in { Absent, Terminating, Stale, Current } => Ready;
        }
        effects { apply service; }
        promises { heals: secret == Stale sets { secret = Current }; }
        teardown { apply_service until service == Absent; }
        status { condition Served { True when service == Current; Unknown "Working" otherwise; } }
    }

    region expose {
        observe { map: owned ConfigMap by name meta.name given service == Current; }
        states { goal Open when map in { Absent, Foreign, Terminating, Stale, Current } => Ready; }
        effects { apply map from serve; }
        status { condition Exposed { True when map == Current; Unknown "Working" otherwise; } }
    }
}

fn main() {}
