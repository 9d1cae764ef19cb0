//! How often the store is asked has no lower bound, and what counts by itself is below the least of a state.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        store: poll Info by meta.uid every spec.interval else 30s;
    }
    facts {
        made: { No, Yes } from store given store;
    }
    states {
        Unseen when !store => Pending overdue spec.timeout else 10s min 1min;
        Waiting when made == No => Pending wakes store, self;
        goal Ready when made == Yes => Ready;
    }
}

fn main() {}
