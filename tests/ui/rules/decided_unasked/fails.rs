//! While the router is silent nobody knows whether anything matches, and it says that nothing does. The finding is a warning, which is refused here.

#![deny(deprecated)]

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        report: poll Info by meta.uid every 5s;
    }
    facts {
        matched: bool from report given report;
    }
    states {
        Unmatched when !matched => Pending wakes report;
        goal Ready when matched => Ready;
    }
    status {
        condition Matched { True when matched; False "NoMatch" otherwise; }
        ready from Matched;
    }
}

fn main() {}
