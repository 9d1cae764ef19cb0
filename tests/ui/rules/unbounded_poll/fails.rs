//! How often the store is asked has no lower bound, that of another bounds nothing, a third is asked a hundred times a second, and what counts by itself is below the least of a state.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        store: poll Info by meta.uid every spec.interval else 30s;
        hasty: poll Info by meta.uid, meta.name every 10ms;
        other: poll Info by meta.name every spec.interval else 30s min 1ms;
    }
    facts {
        made: { No, Yes } from store given store;
        soon: { No, Yes } from hasty given hasty;
        near: { No, Yes } from other given other;
    }
    states {
        Unseen when !store || !other || !hasty => Pending overdue spec.timeout else 10s min 1min;
        Waiting when made == No || near == No || soon == No => Pending wakes store, other, hasty, self;
        goal Ready when made == Yes => Ready;
    }
}

fn main() {}
