//! The lifecycle waits for a Service that still starts.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        service: owned Service by name meta.name;
    }
    facts {
        big: bool from service given service == Current else false;
        health: { Starting, Up, Down } from service given service == Current else Starting;
    }
    states {
        Taken when service == Foreign => Error wakes service, self;
        Leaving when service == Terminating => Pending;
        Making when service in { Absent, Stale } => Pending;
        Broken when health == Down => Error wakes service, self;
        Waiting when health == Starting => Pending;
        goal Large when big => Ready;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service;
    }
    promises {
        starts: service == Current && health == Starting sets { health = Up } or { health = Down };
    }
}

fn main() {}
