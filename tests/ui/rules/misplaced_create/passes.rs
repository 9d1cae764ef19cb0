//! Members of a set are created once, stay when their owner goes, and go when nothing wants them any more.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        jobs: owned [Job] by labels { NAME = meta.name } retain;
        made: record of jobs;
    }
    states {
        Taken when jobs == Foreign => Error wakes jobs, self;
        Making when jobs in { New, Behind } => Pending;
        Pruning when jobs in { Surplus, Draining } => Pending;
        goal Ready when jobs == Current => Ready;
    }
    effects {
        create each jobs;
        delete each jobs;
    }
}

fn main() {}
