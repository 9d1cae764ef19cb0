//! A copy is made of a value where it is kept, and a fact asks there.

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
        long: bool from secret given secret == Current else true;
    }
    states {
        Taken when secret == Foreign || copy == Foreign => Error wakes secret, copy, self;
        Draining when secret == Terminating || copy == Terminating => Pending;
        Making when secret in { Absent, Stale } => Pending;
        Short when !long => Error wakes secret, self;
        Copying when copy in { Absent, Stale } => Pending;
        goal Ready when secret == Current => Ready;
    }
    effects {
        apply secret from password;
        apply copy from secret;
    }
}

fn main() {}
