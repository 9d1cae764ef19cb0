//! Ready accepts a name that another controller or user holds; nothing is copied where the source is missing.

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
        Waiting when copy == Terminating => Pending;
        Copying when copy in { Absent, Stale } => Pending;
        goal Ready when source && copy in { Foreign, Current } => Ready;
    }
    effects {
        apply copy from source;
    }
    properties {
        always source && copy == Current in Ready;
        always copy == Current at rest;
    }
}

fn main() {}
