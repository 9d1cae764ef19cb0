//! The recorded name is replaced while the bucket of the old one is ours.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        handle: record String;
        store: poll Info by handle every 30s given handle != Absent;
    }
    facts {
        held bucket: { No | Current } from store given handle != Absent else No given store else Unseen;
    }
    states {
        Unrecorded when handle == Absent => Pending;
        Unseen when bucket == Unseen => Pending;
        Refusing when refused(put) => Error wakes self;
        Moving when handle == Stale && bucket == Current => Pending;
        Making when bucket == No => Pending;
        goal Ready when bucket == Current => Ready;
    }
    effects {
        apply handle when bucket != Unseen;
        put: call store when handle == Current && bucket == No sets { bucket = Current } undo take_back key handle;
        take_back: call store when handle == Stale sets { bucket = No } key handle;
    }
}

fn main() {}
