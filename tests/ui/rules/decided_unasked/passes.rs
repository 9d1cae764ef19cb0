//! Of its silence it says what is known: nothing. And what matches nothing is not steady, as is written.

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
        steady: bool from report given matched else false;
    }
    states {
        Silent when !report => Pending wakes report;
        Unmatched when !matched => Pending wakes report;
        goal Ready when matched => Ready;
    }
    status {
        condition Matched { Unknown "Silent" when !report; True when matched; False "NoMatch" otherwise; }
        condition Steady { True when steady; False "Unsteady" otherwise; }
        ready from Matched;
    }
}

fn main() {}
