//! A lodge in several versions of its lifecycle. The first is followed by one that drops half of it
//! and declares the fate of that half, and by one that declares nothing.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use lifecycle_runtime::Desired;
use lifecycle_runtime::lifecycle::Machine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of a Lodge.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "lodges.tests",
    version = "v1",
    kind = "Lodge",
    namespaced,
    status = "LodgeStatus"
)]
pub struct LodgeSpec {
    /// Location of the Lodge, as a number.
    pub number: u32,
}

/// Observed state of a Lodge.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct LodgeStatus {
    /// Of the first version alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<String>,
    /// Signed, Cut, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
}

/// First version, whose operator has another name later.
macro_rules! first {
    ($module:ident, $($retired:tt)*) => {
        pub(crate) mod $module {
            use super::*;

            lifecycle_runtime::lifecycle! {
                resource Lodge;

                observe {
                    ticket: record u32;
                    sign:   owned ConfigMap by name meta.name;
                    keys:   owned Secret    by name meta.name;
                }
                states {
                    Taken     when any(sign, keys) == Foreign     => Error wakes sign, keys, self;
                    Closing   when any(sign, keys) == Terminating => Pending;
                    Numbering when ticket in { Absent, Stale }    => Pending;
                    Painting  when sign in { Absent, Stale }      => Pending;
                    Cutting   when keys in { Absent, Stale }      => Pending;
                    goal Open when keys == Current                => Ready;
                }
                effects {
                    apply ticket;
                    apply sign from ticket;
                    apply keys;
                    remove: delete sign;
                }
                teardown {
                    remove until sign in { Absent, Foreign };
                }
                status {
                    condition Signed {
                        True when sign == Current;
                        False "Taken" when sign == Foreign;
                        Unknown "Painting" otherwise;
                    }
                    condition Cut {
                        True when keys == Current;
                        False "Taken" when keys == Foreign;
                        Unknown "Cutting" otherwise;
                    }
                    ready from Signed, Cut;
                    field room: Option<String> from ticket;
                }
                $($retired)*
            }

            pub(crate) struct First;

            impl LodgeLogic for First {
                fn apply_ticket(&self, at: ApplyTicket<'_>) -> u32 {
                    at.this.spec.number
                }

                fn apply_sign(&self, at: ApplySign<'_>) -> Desired<ConfigMap> {
                    sign(*at.ticket)
                }

                fn apply_keys(&self, _: ApplyKeys<'_>) -> Desired<Secret> {
                    Desired::from_object(&Secret::default())
                }

                fn room(&self, _: lifecycle_runtime::This<'_, Lodge>, ticket: &u32) -> Option<String> {
                    Some(ticket.to_string())
                }
            }
        }
    };
}

/// A version with less of it.
macro_rules! second {
    ($module:ident, $($retired:tt)*) => {
        pub(crate) mod $module {
            use super::*;

            lifecycle_runtime::lifecycle! {
                resource Lodge;

                observe {
                    place: record u32;
                    keys:  owned Secret by name meta.name;
                }
                states {
                    Taken     when keys == Foreign           => Error wakes keys, self;
                    Closing   when keys == Terminating       => Pending;
                    Numbering when place == Absent           => Pending;
                    Cutting   when keys in { Absent, Stale } => Pending;
                    goal Open when keys == Current           => Ready;
                }
                effects {
                    apply place when place == Absent;
                    apply keys;
                }
                status {
                    condition Cut {
                        True when keys == Current;
                        False "Taken" when keys == Foreign;
                        Unknown "Cutting" otherwise;
                    }
                    ready from Cut;
                }
                $($retired)*
            }

            pub(crate) struct Second;

            impl LodgeLogic for Second {
                fn apply_place(&self, _: ApplyPlace<'_>) -> u32 {
                    99
                }

                fn apply_keys(&self, _: ApplyKeys<'_>) -> Desired<Secret> {
                    Desired::from_object(&Secret::default())
                }
            }
        }
    };
}

mod versions {
    use super::*;

    pub(crate) mod new_version {
        use super::*;
        use lifecycle_runtime::lifecycle;

        include!("../../../macros/core/tests/lifecycles/lodge.txt");

        pub(crate) struct Second;

        impl LodgeLogic for Second {
            fn apply_place(&self, _: ApplyPlace<'_>) -> u32 {
                99
            }

            fn apply_keys(&self, _: ApplyKeys<'_>) -> Desired<Secret> {
                Desired::from_object(&Secret::default())
            }
        }
    }

    first!(old_version,);
    first!(renamed_version,
        retired {
            finalizer "tests.lifecycle/lodge";
            record "tests.lifecycle/lodge.ticket" now ticket;
        }
    );
    second!(forgetful_version,);
    second!(generous_version,
        retired {
            finalizer;
            record ticket now place;
            condition Signed;
            field room;
            sign: owned ConfigMap by name meta.name released;
        }
    );
}

fn sign(number: u32) -> Desired<ConfigMap> {
    Desired::from_object(&ConfigMap {
        data: Some([("number".to_owned(), number.to_string())].into()),
        ..ConfigMap::default()
    })
}

/// The first version.
pub fn old() -> impl Machine {
    versions::old_version::machine(versions::old_version::First)
}

/// Returns the first version under another name, which declares its former name.
pub fn renamed() -> impl Machine {
    versions::renamed_version::machine(versions::renamed_version::First)
}

/// Returns the second version, which declares the fate of the first version's leftovers.
pub fn new() -> impl Machine {
    versions::new_version::machine(versions::new_version::Second)
}

/// The second version without a word of the first.
pub fn forgetful() -> impl Machine {
    versions::forgetful_version::machine(versions::forgetful_version::Second)
}

/// Returns the second version, which releases the objects that the first one made.
pub fn generous() -> impl Machine {
    versions::generous_version::machine(versions::generous_version::Second)
}
