//! Three values, five, one object, an order turned round, and a count that holds something.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        nodes: [Node] by namespace;
    }
    facts {
        few: count { None, Some, All } of nodes;
        many: count { Empty, None, Some, Most, All } of nodes;
        one: count { Empty, None, Some, All } of class;
        turned: count { All, Some, None, Empty } of nodes;
        held ours: count { Empty, None, Some, All } of nodes;
    }
    states {
        Missing when !class || few == None || many == None || one == None || turned == None || ours == None => Error wakes class, nodes;
        goal Ready when class => Ready;
    }
}

fn main() {}
