//! Misfits with `kstatus;`: conditions and a field that it writes itself, `implicit in ..`, a goal that is not Ready, a Ready non-goal state.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        service: owned Service by name meta.name;
    }
    states {
        NoClass when !class => Error wakes class;
        Taken when service == Foreign => Error wakes service;
        Leaving when service == Terminating => Ready;
        Making when service in { Absent, Stale } => Pending;
        goal Made when service == Current => Pending;
    }
    effects { apply service from class; }
    status {
        condition Stalled { True when service == Foreign; False otherwise; }
        condition Reconciling { True when service in { Absent, Stale }; False otherwise; }
        implicit in Stalled "Error";
        field observed_generation = phase;
        kstatus;
    }
}

fn main() {}
