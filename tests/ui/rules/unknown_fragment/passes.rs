//! A place is for a fragment that is used.

use lifecycle_runtime::{fragment, lifecycle};
use lifecycle_ui::*;

fragment! {
    /// Requirements of every kind on its class.
    fragment classed;

    observe {
        class: ConfigMap by name spec.class;
    }
    states {
        NoClass when !class => Pending wakes class;
    }
}

lifecycle! {
    resource Thing;

    use classed;

    observe {
        copy: owned ConfigMap by name meta.name;
    }
    states {
        use classed;
        Taken    when copy == Foreign           => Error   wakes copy, self;
        Leaving  when copy == Terminating       => Pending;
        Making   when copy in { Absent, Stale } => Pending;
        goal Ready when copy == Current         => Ready;
    }
    effects {
        apply copy from class;
    }
    transitions {
        Leaving -> Making;
        Making -> Ready;
    }
}

fn main() {}
