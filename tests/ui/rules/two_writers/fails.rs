//! Two inputs are the same ConfigMap, and both are written; two are the same Secret, and one is deleted. The finding is a warning, which is refused here.

#![deny(deprecated)]

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        config: owned ConfigMap by name meta.name;
        extra: owned ConfigMap by name meta.name;
        secret: owned Secret by name meta.name;
        unwanted: owned Secret by name meta.name;
    }
    states {
        Taken when any(config, extra, secret) == Foreign => Error wakes config, extra, secret, self;
        Leaving when any(config, extra, secret, unwanted) == Terminating => Pending;
        Making when any(config, extra, secret) in { Absent, Stale } => Pending;
        Removing when unwanted in { Stale, Current } => Pending;
        goal Ready when all(config, extra, secret) == Current => Ready;
    }
    effects {
        apply config;
        apply extra;
        apply secret;
        delete unwanted;
    }
}

fn main() {}
