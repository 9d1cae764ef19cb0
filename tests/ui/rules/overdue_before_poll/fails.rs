//! It is overdue after half a minute, and only the store tells that it is made, which is asked once a minute.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        store: poll Info by meta.uid every spec.interval else 1min min 10s;
    }
    facts {
        made: { No, Yes } from store given store;
    }
    states {
        Unseen when !store => Pending overdue 5s;
        Waiting when made == No => Pending overdue 30s;
        goal Ready when made == Yes => Ready;
    }
    promises {
        makes: made == No sets { made = Yes };
    }
}

fn main() {}
