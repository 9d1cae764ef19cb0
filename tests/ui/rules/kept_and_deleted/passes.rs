//! The Service is deleted while there is a Thing that does not want it, and stays when the Thing goes.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        service: owned Service by name meta.name retain;
    }
    facts {
        wanted: bool from self;
        consent: bool from self;
    }
    states {
        Taken when service == Foreign => Error wakes service, self;
        Waiting when service == Adoptable && !consent => Error wakes service, self;
        Adopting when service == Adoptable => Pending;
        Draining when service == Terminating => Pending;
        Removing when !wanted && service != Absent => Pending;
        goal Gone when !wanted => Ready;
        Applying when service != Current => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        adopt service when consent;
        delete service when !wanted;
        apply service when wanted;
    }
}

fn main() {}
