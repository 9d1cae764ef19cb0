//! That the Job ends is waited for also where it is gone and says nothing any more. The finding is a warning, which is refused here.

#![deny(deprecated)]

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
        Running when !ended => Pending;
        goal Ready when ended => Ready;
    }
    effects {
        create job;
    }
    promises {
        ends: !ended && job != Terminating sets { ended = true };
    }
}

fn main() {}
