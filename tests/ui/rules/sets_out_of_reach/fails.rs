//! An effect claims to set a fact that does not read its target.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name spec.class;
        service: owned Service by name meta.name;
    }
    facts {
        validity: { Fine, Bad } from class given class;
        open: bool from service given service == Current;
    }
    states {
        Missing when !class || validity == Bad => Error wakes class;
        Foreign when service == Foreign => Error wakes service;
        Busy when service != Current => Pending;
        Closed when !open => Pending wakes service;
        goal Ready when open => Ready;
    }
    effects {
        apply service from class when validity == Fine sets { service = Current, validity = Fine };
    }
}

fn main() {}
