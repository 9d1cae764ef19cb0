//! Four values under other names, and one that `else` brings.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        nodes: [Node] by namespace;
    }
    facts {
        up: count { NoNodes, Down, Partly, Up } of nodes given class else Unasked;
    }
    states {
        Missing when !class => Error wakes class;
        Down when up in { NoNodes, Down, Partly } => Error wakes nodes;
        goal Ready when up == Up => Ready;
    }
}

fn main() {}
