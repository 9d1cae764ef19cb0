//! Each end of a run from there is named; that a write may be refused is excepted.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        source: ConfigMap by name spec.class;
        copy: owned ConfigMap by name meta.name;
    }
    states {
        Taken when copy == Foreign => Error wakes copy, self;
        Waiting when copy == Terminating => Pending;
        Missing when !source => Error wakes source, self;
        Copying when copy in { Absent, Stale } => Pending;
        goal Ready when copy == Current => Ready;
    }
    effects {
        apply copy from source;
    }
    properties {
        reaches Ready | Missing from Waiting;
        reaches Ready from Copying;
    }
}

fn main() {}
