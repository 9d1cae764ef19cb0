//! That the Service is as it should be is our work, and nobody else's, and nobody at all writes the copy; our work is what a call says, also where a Thing that goes waits. The finding is a warning, which is refused here.

#![deny(deprecated)]

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        service: owned Service by name meta.name;
        copy: owned ConfigMap by name meta.name;
        store: poll Info by meta.uid every 30s;
    }
    facts {
        started: bool from service given service == Current else false;
        held entry: { No | Yes } from store given store else Unknown;
    }
    states {
        Taken when service == Foreign => Error wakes service, self;
        Leaving when service == Terminating => Pending;
        Making when service in { Absent, Stale } => Pending;
        Rival when copy == Foreign => Error wakes copy, self;
        Going when copy == Terminating => Pending;
        Copying when copy in { Absent, Stale } => Pending;
        Unseen when entry == Unknown => Pending;
        Entering when entry == No => Pending;
        Starting when !started => Pending;
        goal Ready when started => Ready;
    }
    effects {
        apply service;
        enter: call store when entry == No sets { entry = Yes } undo leave key meta.uid;
        leave: call store sets { entry = No } key meta.uid;
    }
    promises {
        made: service == Stale sets { service = Current };
        copied: copy in { Absent, Stale } sets { copy = Current };
        starts: service == Current && !started sets { started = true };
        entered: entry == No sets { entry = Yes };
    }
}

fn main() {}
