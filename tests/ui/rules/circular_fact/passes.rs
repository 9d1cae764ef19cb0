//! A shared value and the fact made of it are asked under the same predicate.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
    }
    facts {
        let spot: Spot from class given seen;
        near: bool from spot given seen else false;
        seen = class;
        far = !near;
    }
    states {
        Far when far => Error wakes class;
        goal Ready when near => Ready;
    }
}

fn main() {}
