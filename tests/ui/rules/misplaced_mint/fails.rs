//! A value is minted in what others may write as well, in a set, and in what is only read.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        secret: owned Secret by name meta.name;
        shared: shared ConfigMap by name spec.class;
        all: owned [Secret] by labels { APP = meta.name };
        class: ConfigMap by name spec.class;
    }
    facts {
        mint password: String in secret;
        mint one: String in shared;
        mint two: String in all;
        mint three: String in class;
        mint four: String in password;
    }
    states {
        Taken when secret == Foreign => Error wakes secret, self;
        Draining when secret == Terminating => Pending;
        Making when secret in { Absent, Stale } => Pending;
        goal Ready when secret == Current => Ready;
    }
    effects {
        apply secret from password;
        apply shared from one;
        apply each all from two;
    }
}

fn main() {}
