//! A shared value that is asked only where the fact made of it holds.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    facts {
        let spot: Spot from class given close;
        near: bool from spot;
        close = near;
    }
    states {
        Far when !near => Error wakes class;
        goal Ready when near => Ready;
    }
}

fn main() {}
