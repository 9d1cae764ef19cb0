//! The store is asked every five seconds at the most, whatever the object says; a state that no poll ends needs no bound.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        store: poll Info by meta.uid every spec.interval else 30s min 5s;
    }
    facts {
        made: { No, Yes } from store given store;
    }
    states {
        Unseen when !store => Pending overdue spec.timeout else 1min;
        Waiting when made == No => Pending wakes store, self;
        goal Ready when made == Yes => Ready;
    }
}

fn main() {}
