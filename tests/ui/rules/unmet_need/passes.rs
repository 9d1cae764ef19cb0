//! The lifecycle knows what the fragment asks, and more.

use lifecycle_runtime::{fragment, lifecycle};
use lifecycle_ui::*;

fragment! {
    /// Requirements of every kind on its class.
    fragment classed;

    needs {
        quota: { Free, Spent };
    }

    observe {
        class: ConfigMap by name spec.class;
    }
    states {
        NoClass when !class         => Pending wakes class;
        Full    when quota == Spent => Error   wakes class, self;
    }
}

lifecycle! {
    resource Thing;

    use classed;

    observe {
        copy: owned ConfigMap by name meta.name;
    }
    facts {
        quota: { Free, Low, Spent } from class given class;
    }
    states {
        use classed;
        Taken    when copy == Foreign           => Error   wakes copy, self;
        Leaving  when copy == Terminating       => Pending;
        Making   when copy in { Absent, Stale } => Pending;
        goal Ready when copy == Current         => Ready;
    }
    effects {
        apply copy from class when quota != Spent;
    }
    transitions {
        Leaving -> Making;
        Making -> Ready;
    }
}

fn main() {}
