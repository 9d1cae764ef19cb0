//! The Service is to stay when the Thing goes, and the undo deletes it exactly then.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        service: owned Service by name meta.name retain;
    }
    facts {
        held disk: { No | Yes } from service;
        consent: bool from self;
    }
    states {
        Taken when service == Foreign => Error wakes service, self;
        Waiting when service == Adoptable && !consent => Error wakes service, self;
        Adopting when service == Adoptable => Pending;
        Applying when service != Current || disk == No => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        make: apply service sets { service = Current, disk = Yes } undo wipe;
        wipe: delete service sets { service = Absent, disk = No };
        adopt service when consent;
    }
}

fn main() {}
