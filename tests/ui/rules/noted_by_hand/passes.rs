//! A record of its own holds the data that the object reported while it was there.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        job: owned Job by name meta.name;
        made: record of job;
        said: record String;
    }
    states {
        Taken when job == Foreign => Error wakes job, self;
        Making when job in { Absent, New } => Pending;
        Saying when job == Made && said != Current => Pending;
        goal Ready when job in { Made, Terminating, Gone } => Ready;
    }
    effects {
        create job;
        apply said from job;
    }
}

fn main() {}
