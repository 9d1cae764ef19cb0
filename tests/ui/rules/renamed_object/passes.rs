//! Leftovers of an old name are deleted. A name that a method makes of the Thing's name stays.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        service: owned Service by name spec.class;
        old: owned [Service] by owner;
        secret: owned Secret by ref from self;
    }
    states {
        Taken when any(service, secret) == Foreign => Error wakes service, secret, self;
        Leaving when any(service, secret) == Terminating => Pending;
        Making when any(service, secret) in { Absent, Stale } => Pending;
        Tidying when old in { Surplus, Draining } => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service;
        apply secret;
        delete each old;
    }
}

fn main() {}
