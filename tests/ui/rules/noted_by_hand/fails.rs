//! An effect of the author records the created object, although the author may not know it yet.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        job: owned Job by name meta.name;
        made: record of job;
    }
    states {
        Taken when job == Foreign => Error wakes job, self;
        Making when job in { Absent, New } => Pending;
        goal Ready when job in { Made, Terminating, Gone } => Ready;
    }
    effects {
        create job;
        apply made from job;
    }
}

fn main() {}
