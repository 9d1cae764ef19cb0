//! How often the store is asked has no lower bound, that of another bounds nothing, and what counts by itself is below the least of a state.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        store: poll Info by meta.uid every spec.interval else 30s;
        other: poll Info by meta.name every spec.interval else 30s min 1ms;
    }
    facts {
        made: { No, Yes } from store given store;
        near: { No, Yes } from other given other;
    }
    states {
        Unseen when !store || !other => Pending overdue spec.timeout else 10s min 1min;
        Waiting when made == No || near == No => Pending wakes store, other, self;
        goal Ready when made == Yes => Ready;
    }
}

fn main() {}
