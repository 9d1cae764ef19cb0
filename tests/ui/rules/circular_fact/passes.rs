//! A shared value and the fact made of it are asked under the same predicate.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    facts {
        let spot: Spot from class given class;
        near: bool from spot given class else false;
    }
    states {
        Far when !near => Error wakes class;
        goal Ready when near => Ready;
    }
}

fn main() {}
