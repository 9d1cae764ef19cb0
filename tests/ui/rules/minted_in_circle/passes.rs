//! A value is minted from what keeps another.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        secret: owned Secret by name meta.name;
        copy: owned ConfigMap by name meta.name;
    }
    facts {
        mint password: String in secret;
        mint salt: String in copy from secret;
    }
    states {
        Taken when secret == Foreign || copy == Foreign => Error wakes secret, copy, self;
        Draining when secret == Terminating || copy == Terminating => Pending;
        Making when secret in { Absent, Stale } || copy in { Absent, Stale } => Pending;
        goal Ready when secret == Current => Ready;
    }
    effects {
        apply secret from password;
        apply copy from salt;
    }
}

fn main() {}
