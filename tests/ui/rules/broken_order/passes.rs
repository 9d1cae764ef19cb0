//! It is removed once it serves no more. That it may begin to serve again is the work of the outside, and another run.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        cloud: poll Info by meta.uid every 2s;
        gate: poll Info by meta.uid every 2s;
    }
    facts {
        unwanted: bool from self;
        served: bool from gate given gate;
        infra: { Absent, There } from cloud given cloud;
    }
    states {
        Silent when !cloud || !gate => Pending;
        Draining when unwanted && served => Pending;
        Removing when unwanted && infra == There => Pending;
        goal Gone when unwanted => Ready;
        goal Kept when !unwanted => Ready;
    }
    effects {
        drain: call gate when unwanted sets { served = false } key meta.uid;
        unmake: call cloud when unwanted && gate && !served sets { infra = Absent } key meta.uid;
    }
    properties {
        drain before unmake;
    }
}

fn main() {}
