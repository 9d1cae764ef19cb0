//! A value is made anew where it says itself that it is old.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        secret: owned Secret by name meta.name;
        now: clock;
    }
    facts {
        asked: bool from self, secret;
        due: bool from secret, now;
        mint password: String in secret from now until asked || due;
    }
    states {
        Taken when secret == Foreign => Error wakes secret, self;
        Draining when secret == Terminating => Pending;
        Making when secret in { Absent, Stale } => Pending;
        goal Ready when secret == Current => Ready;
    }
    effects {
        apply secret from password;
    }
}

fn main() {}
