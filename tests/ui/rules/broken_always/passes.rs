//! Ready is what it is called, and so is each end of a quiet run.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        source: ConfigMap by name spec.class;
        copy: owned ConfigMap by name meta.name;
    }
    states {
        Missing when !source => Error wakes source, self;
        Taken when copy == Foreign => Error wakes copy, self;
        Waiting when copy == Terminating => Pending;
        Copying when copy in { Absent, Stale } => Pending;
        goal Ready when source => Ready;
    }
    effects {
        apply copy from source;
    }
    properties {
        always source && copy == Current in Ready;
        always copy in { Foreign, Current } in Taken, Ready at rest;
    }
}

fn main() {}
