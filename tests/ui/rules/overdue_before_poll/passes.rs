//! There is time for a question before it is overdue, whatever the object says; that the store has not answered yet is told sooner.

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
        Waiting when made == No => Pending overdue spec.timeout else 5min min 20s;
        goal Ready when made == Yes => Ready;
    }
    promises {
        makes: made == No sets { made = Yes };
    }
}

fn main() {}
