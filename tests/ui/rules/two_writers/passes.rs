//! Two kinds may have one name.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        config: owned ConfigMap by name meta.name;
        extra: owned Secret by name meta.name;
    }
    states {
        Taken when any(config, extra) == Foreign => Error wakes config, extra, self;
        Leaving when any(config, extra) == Terminating => Pending;
        Making when any(config, extra) in { Absent, Stale } => Pending;
        goal Ready when all(config, extra) == Current => Ready;
    }
    effects {
        apply config;
        apply extra;
    }
}

fn main() {}
