//! A value is made anew where that does not change what asks for it.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        secret: owned Secret by name meta.name;
    }
    facts {
        asked: bool from self;
        mint password: String in secret until asked;
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
