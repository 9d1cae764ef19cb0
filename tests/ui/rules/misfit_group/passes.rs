//! Members by themselves, one of them optional, one that a fact reads, and a condition of all.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        parts: owned {
            config: ConfigMap by ref;
            web: optional Service by name meta.name exclusive spec.ports;
        } given wanted;
        node: part Node by ref;
    }
    facts {
        wanted: bool from self;
        served: bool from web given parts == Current;
    }
    states {
        Unwanted when !wanted => Error wakes self;
        NoNode when node == Absent => Error wakes node;
        Labelling when node == Stale => Pending;
        Taken when parts == Foreign => Error wakes parts;
        Working when parts != Current => Pending;
        Waiting when !served => Pending wakes parts;
        goal Ready when served => Ready;
    }
    effects {
        apply node when wanted;
        apply each parts;
        delete each parts;
    }
}

fn main() {}
