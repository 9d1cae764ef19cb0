//! The object says whether the Service stays; the Service, read as somebody else's, whether it may be taken over.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        service: owned Service by name meta.name retain when precious;
        found: Service by name meta.name;
    }
    facts {
        precious: bool from self;
        consent: bool from found given found else false;
    }
    states {
        Taken when service == Foreign => Error wakes service, self;
        Waiting when service == Adoptable && !consent => Error wakes service, found, self;
        Adopting when service == Adoptable => Pending;
        Draining when service == Terminating => Pending;
        Applying when service != Current => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service;
        adopt service without retain when consent;
    }
}

fn main() {}
