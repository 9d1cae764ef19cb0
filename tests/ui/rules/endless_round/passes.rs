//! Two promises lead to rest.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    facts {
        light: { Red, Green, Off } from class;
    }
    states {
        Stop when light == Red => Pending;
        Go when light == Green => Pending;
        goal Dark when light == Off => Ready;
    }
    promises {
        goes: light == Red sets { light = Green };
        stops: light == Green sets { light = Off };
    }
}

fn main() {}
