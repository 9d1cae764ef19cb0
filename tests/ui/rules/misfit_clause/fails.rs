//! A set is looked up by one name, one object by labels, a watch has a period, `each` stands before one object, a set owns,
//! a poll has none, a resource probes a node, what is only read is exclusively ours, what is ours is found in any namespace, a condition that is left out has a reason, and messages take in no texts of the object.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        nodes: [Node] by name spec.class;
        class: ConfigMap by labels { NAME = meta.name };
        secret: Secret by name meta.name every 3s;
        service: owned Service by name meta.name;
        other: owned Service of nodes by name meta.name;
        list: ConfigMap by name meta.name exclusive data.list;
        common: shared Secret without controller by name meta.name;
        others: owned [Service] by refs of class;
        store: poll Info by meta.uid;
        mounts: probe Info by meta.uid;
    }
    states {
        Missing when !class || !secret || service == Foreign => Error wakes class, secret, service;
        Busy when service != Current => Pending;
        goal Ready when class => Ready;
    }
    effects {
        apply each service from nodes;
    }
    status {
        condition Told { Omit "Reason" when service == Foreign; Absent event "Gone" otherwise; }
        condition Said { False "Missing" "{class.name} is missing" when !class; True "Fine" "{spec}" otherwise; }
    }
}

fn main() {}
