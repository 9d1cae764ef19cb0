//! Each of two objects that are created has its record.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        job: owned Job by name meta.name;
        jobs: record of job;
        other: owned Secret by name meta.name;
        others: record of other;
    }
    states {
        Taken when any(job, other) == Foreign => Error wakes job, other, self;
        Making when any(job, other) in { Absent, New } => Pending;
        goal Ready when job in { Made, Terminating, Gone } => Ready;
    }
    effects {
        create job;
        create other;
    }
}

fn main() {}
