//! The password knows when it was made, and is due by the time.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        secret: owned Secret by name meta.name;
        now: clock;
    }
    facts {
        due: { No, Yes } from secret, now;
        mint password: String in secret from now until due == Yes;
    }
    states {
        Taken when secret == Foreign => Error wakes secret, self;
        Leaving when secret == Terminating => Pending;
        Making when secret in { Absent, Stale } => Pending;
        goal Ready when secret == Current => Ready;
    }
    effects {
        apply secret from password;
    }
}

fn main() {}
