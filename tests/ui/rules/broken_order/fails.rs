//! It is removed while it still serves, and drained afterwards.

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
        unmake: call cloud when unwanted sets { infra = Absent } key meta.uid;
        drain: call gate when unwanted sets { served = false } key meta.uid;
    }
    properties {
        drain before unmake;
    }
}

fn main() {}
