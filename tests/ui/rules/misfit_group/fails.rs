//! Misfits in a group: a member owned twice or by others, a set, one member's condition, one member's write, and a reader of the whole.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        parts: owned {
            config: owned ConfigMap by ref;
            node: part Node by ref;
            pods: [Pod] by owner;
            web: Service by ref given wanted;
        };
        none: owned { };
    }
    facts {
        wanted: bool from self;
        served: bool from parts;
    }
    states {
        Working when parts != Current || none != Current || !served => Pending;
        goal Ready when served => Ready;
    }
    effects {
        apply config;
        apply each parts from web;
    }
}

fn main() {}
