//! A set is looked up by one name, one object by labels, a watch has a period, and `each` stands before one object.

use lifecycle_runtime::lifecycle;
use lifecycle_tests::kinds::*;

lifecycle! {
    resource Thing;

    observe {
        nodes: [Node] by name spec.class;
        class: ConfigMap by labels { NAME = meta.name };
        secret: Secret by name meta.name every 3s;
        service: owned Service by name meta.name;
    }
    states {
        Missing when !class || !secret || service == Foreign => Error wakes class, secret, service;
        Busy when service != Current => Pending;
        goal Ready when class => Ready;
    }
    effects {
        apply each service from nodes;
    }
}

fn main() {}
