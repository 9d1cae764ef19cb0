//! An adopted object stays, also where the policy requires its deletion. The finding is a warning, which is refused here.

#![deny(deprecated)]

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        secret: owned Secret by name meta.name retain when keeps;
    }
    facts {
        keeps: bool from self;
        consent: bool from self;
    }
    states {
        Taken when secret == Foreign => Error wakes secret, self;
        Waiting when secret == Adoptable && !consent => Error wakes secret, self;
        Adopting when secret == Adoptable => Pending;
        Leaving when secret == Terminating => Pending;
        Making when secret in { Absent, Stale } => Pending;
        goal Ready when secret == Current => Ready;
    }
    effects {
        adopt secret when consent;
        apply secret;
    }
}

fn main() {}
