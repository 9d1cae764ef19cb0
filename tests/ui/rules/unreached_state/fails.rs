//! The old object may be gone for good. Nobody else made anything in its place, but the source may be missing.

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
        reaches Ready from Waiting, Copying;
    }
}

fn main() {}
