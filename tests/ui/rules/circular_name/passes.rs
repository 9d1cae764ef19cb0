//! A name stands for another, and that for what is asked of two objects.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        copy:  owned ConfigMap by name meta.name;
        mark:  owned Service by name meta.name;
    }
    facts {
        taken   = foreign;
        foreign = any(copy, mark) == Foreign;
        written = all(copy, mark) == Current;
    }
    states {
        Missing  when !class                      => Pending wakes class;
        Taken    when taken                       => Error   wakes copy, mark, self;
        Leaving  when any(copy, mark) == Terminating => Pending;
        Making   when !written                    => Pending;
        goal Ready when written                   => Ready;
    }
    effects {
        apply copy from class;
        apply mark from class;
    }
    transitions {
        Leaving -> Making;
        Making -> Ready;
    }
}

fn main() {}
