//! An Offer waits until its Demand is Ready, and the Demand until its Offer is: neither ever is.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of an Offer.
#[derive(Clone, Debug, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(group = "example.com", version = "v1", kind = "Offer", namespaced, derive = "PartialEq")]
pub struct OfferSpec {}

/// Desired state of a Demand.
#[derive(Clone, Debug, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(group = "example.com", version = "v1", kind = "Demand", namespaced, derive = "PartialEq")]
pub struct DemandSpec {}

mod offers {
    use super::{Demand, Offer};
    use lifecycle_runtime::lifecycle;
    use lifecycle_ui::*;

    lifecycle! {
        resource Offer;

        observe {
            demand: Demand by name meta.name;
            service: owned Service by name meta.name;
        }
        facts {
            asked: bool from demand given demand else false;
        }
        states {
            Taken when service == Foreign => Error wakes service, self;
            Leaving when service == Terminating => Pending;
            NoDemand when !demand => Error wakes demand;
            Unasked when !asked => Pending;
            Making when service in { Absent, Stale } => Pending;
            goal Ready when service == Current => Ready;
        }
        effects {
            apply service when asked;
        }
        promises {
            asks claimed by Demand in Ready: demand && !asked sets { asked = true };
        }
    }
}

mod demands {
    use super::{Demand, Offer};
    use lifecycle_runtime::lifecycle;
    use lifecycle_ui::*;

    lifecycle! {
        resource Demand;

        observe {
            offer: Offer by name meta.name;
            secret: owned Secret by name meta.name;
        }
        facts {
            served: bool from offer given offer else false;
        }
        states {
            Taken when secret == Foreign => Error wakes secret, self;
            Leaving when secret == Terminating => Pending;
            Making when secret in { Absent, Stale } => Pending;
            NoOffer when !offer => Error wakes offer;
            Unserved when !served => Pending;
            goal Ready when served => Ready;
        }
        effects {
            apply secret;
        }
        promises {
            serves claimed by Offer in Ready: offer && !served sets { served = true };
        }
    }
}

lifecycle_runtime::together!(Offer, Demand);

fn main() {}
