//! One object of ours keeps two values, and a record one.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        secret: owned Secret by name meta.name;
        suffix: record String;
    }
    facts {
        mint password: String in secret;
        mint salt: String in secret from password;
        mint name: String in suffix;
    }
    states {
        Taken when secret == Foreign => Error wakes secret, self;
        Draining when secret == Terminating => Pending;
        Naming when suffix in { Absent, Stale } => Pending;
        Making when secret in { Absent, Stale } => Pending;
        goal Ready when secret == Current => Ready;
    }
    effects {
        apply suffix from name;
        apply secret from password, salt;
    }
}

fn main() {}
