//! A fact is told what time it is, and everything else asks the fact.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        now: clock;
        store: poll Info by meta.uid every 30s given due == No;
        service: owned Service by name meta.name;
    }
    facts {
        due: { No, Yes } from self, now;
        let spot: Spot from self given due == No;
        big: bool from store given store;
    }
    states {
        Late when due == Yes => Pending wakes now;
        Silent when !store => Pending;
        Busy when service != Current => Pending wakes service, now;
        goal Big when big => Ready;
        goal Ready when !big => Ready;
    }
    effects {
        apply service from spot when due == No;
    }
    status {
        field phase = phase;
    }
}

fn main() {}
