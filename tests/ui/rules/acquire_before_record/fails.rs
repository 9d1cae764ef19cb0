//! A bucket is made under a name that differs from the recorded one.

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
        Making when bucket == No => Pending;
        goal Ready when bucket == Current => Ready;
    }
    effects {
        apply handle when handle == Absent;
        put: call store when bucket == No sets { bucket = Current } undo take_back key handle;
        take_back: call store sets { bucket = No } key handle;
    }
}

fn main() {}
