//! A failure state is entered from every state, and a state without a failure from the states that lead to it.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        copy:  owned ConfigMap by name meta.name;
    }
    facts {
        health: { Unknown, Bad, Fine } from copy given copy == Current;
    }
    states {
        Missing  when !class                    => Pending wakes class;
        Taken    when copy == Foreign           => Error   wakes copy, self;
        Leaving  when copy == Terminating       => Pending;
        Making   when copy in { Absent, Stale } => Pending;
        Starting when health == Unknown         => Pending;
        Failed   when health == Bad             => Error   wakes copy, self;
        goal Ready when health == Fine          => Ready;
    }
    effects {
        apply copy from class;
    }
    promises {
        starts: health == Unknown sets { health = Fine } or { health = Bad };
    }
    transitions {
        Leaving -> Making;
        Making -> Starting;
        Making | Starting -> Ready;
        _ -> Failed;
    }
}

fn main() {}
