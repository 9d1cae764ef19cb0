//! A fact, an effect and `wakes` read what is not observed.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        service: owned Service by name nodes.name;
    }
    facts {
        validity: { Fine, Bad } from clas given class;
    }
    states {
        Missing when !class || validity == Bad || service == Foreign => Error wakes secret;
        Busy when service != Current => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service from validity;
    }
}

fn main() {}
