//! A state without a failure is entered from every state.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        copy:  owned ConfigMap by name meta.name;
    }
    states {
        Missing  when !class                    => Pending wakes class;
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
        _ -> Ready;
    }
}

fn main() {}
