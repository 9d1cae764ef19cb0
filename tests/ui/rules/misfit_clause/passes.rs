//! A poll has a period, sets are looked up by labels and by references, one object owns another with a list that is exclusively ours,
//! what is absent may say why, and messages take in what the object says.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        nodes: [Node] by labels { NAME = meta.name };
        store: poll Info by meta.uid every 3s;
        class: ConfigMap by name spec.class;
        others: [ConfigMap] by refs of class;
        service: owned Service of class without controller by name meta.name exclusive spec.ports, spec.external_ips;
    }
    facts {
        full: bool from nodes, store, others;
    }
    states {
        Classless when !class => Error wakes class;
        Full when full => Error wakes nodes, store, others;
        Taken when service == Foreign => Error wakes service;
        Busy when service != Current => Pending;
        goal Ready when !full => Ready;
    }
    effects {
        apply service when !full;
    }
    transitions {
        Busy -> Ready;
    }
    status {
        condition Classed {
            False "NoClass" "there is no {{{spec.class}}}" when !class;
            True "Found" "{meta.name} in {meta.namespace} has a class" otherwise;
        }
        condition Served {
            Omit when !class;
            False "Full" when full;
            False "Taken" event "Clash" when service == Foreign;
            True when service == Current;
            Absent "Waiting" "nothing serves it yet" otherwise;
        }
        ready "Fine" "all is well with {meta.name}" from Classed, Served;
        implicit in Classed "Trouble";
    }
}

fn main() {}
