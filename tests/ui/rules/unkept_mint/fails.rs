//! No effect writes the store of one minted value, and an effect writes the store of another without that value.

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
        mint name: String in suffix;
    }
    states {
        Taken when secret == Foreign => Error wakes secret, self;
        Draining when secret == Terminating => Pending;
        Making when secret in { Absent, Stale } => Pending;
        goal Ready when secret == Current && suffix == Current => Ready;
    }
    effects {
        apply secret;
    }
}

fn main() {}
