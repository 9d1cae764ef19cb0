//! Whoever edits the name leaves the Service of the old one behind, so does a class that names another Secret, and parts keep the label of before. The finding is a warning, which is refused here.

#![deny(deprecated)]

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap by name meta.namespace;
        service: owned Service by name spec.class;
        secret: owned Secret by ref from class;
        parts: owned [ConfigMap] by labels { NAME = spec.class };
    }
    states {
        Taken when any(service, secret) == Foreign => Error wakes service, secret, self;
        Leaving when any(service, secret) == Terminating => Pending;
        Rival when parts == Foreign => Error wakes parts, self;
        Making when any(service, secret) in { Absent, Stale } || parts in { Behind, Surplus, Draining } => Pending;
        goal Ready when all(service, secret) == Current => Ready;
    }
    effects {
        apply service;
        apply secret;
        apply each parts;
        delete each parts;
    }
}

fn main() {}
