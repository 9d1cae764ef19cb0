//! A poll has a period and a set is looked up by labels.

use lifecycle_runtime::lifecycle;
use lifecycle_tests::kinds::*;

lifecycle! {
    resource Thing;

    observe {
        nodes: [Node] by labels { NAME = meta.name };
        store: poll Info by meta.uid every 3s;
    }
    facts {
        full: bool from nodes, store;
    }
    states {
        Full when full => Error wakes nodes, store;
        goal Ready when !full => Ready;
    }
}

fn main() {}
