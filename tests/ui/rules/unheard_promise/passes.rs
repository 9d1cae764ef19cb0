//! It is waited for where the Job is there; where it is gone, somebody is told.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        job: owned Job by name meta.name;
        made: record of job;
    }
    facts {
        ended: bool from job;
    }
    states {
        Taken when job == Foreign => Error wakes job, self;
        Making when job in { Absent, New } => Pending;
        Leaving when !ended && job == Terminating => Pending;
        Lost when !ended && job == Gone => Error wakes job, self;
        Running when !ended => Pending;
        goal Ready when ended => Ready;
    }
    effects {
        create job;
    }
    promises {
        ends: !ended && job == Made sets { ended = true };
    }
}

fn main() {}
