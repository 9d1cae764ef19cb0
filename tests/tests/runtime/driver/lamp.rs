//! A lamp on a grid that names the controller that manages it, with a Service whose ports are
//! exclusively ours.

use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::CustomResource;
use lifecycle_runtime::{Because, Desired, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "tests.lifecycle",
    version = "v1",
    kind = "Lamp",
    namespaced,
    status = "LampStatus"
)]
pub(crate) struct LampSpec {
    pub(crate) grid: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct LampStatus {
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub(crate) conditions: Vec<k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition>,
}

/// Lifecycle with parameters: the exclusive lists, the phase of a lamp whose grid has another
/// keeper, and its condition.
macro_rules! lamp {
    ([$($exclusive:tt)*] [$($phase:tt)*] [$($clause:tt)*]) => {
        lifecycle! {
            /// A lamp, unless its grid has another keeper.
            resource Lamp;

            observe {
                grid: ConfigMap     by name spec.grid;
                cord: owned Service by name meta.name $($exclusive)*;
            }
            facts {
                keeper: { Ours, Other } from grid given grid else Ours;
            }
            states {
                Elsewhere when keeper == Other     => $($phase)*;
                Dark      when !grid               => Error wakes grid, self;
                Taken     when cord == Foreign     => Error wakes cord, self;
                Draining  when cord == Terminating => Pending;
                Wiring    when cord != Current     => Pending;
                goal Lit  when cord == Current     => Ready;
            }
            effects {
                apply cord from grid;
            }
            transitions {
                Draining -> Wiring;
                Wiring -> Lit;
            }
            status {
                condition Wired {
                    $($clause)*
                    False "Error"      "there is no grid \"{spec.grid}\" for {meta.name}"         when !grid;
                    False "Error"      "Service {meta.name} already exists in {meta.namespace}"   when cord == Foreign;
                    True  "Ready"      "OK"                                                       when cord == Current;
                    Unknown "Pending"  otherwise;
                }
                ready "Ready" "OK" from Wired;
            }
        }
    };
}

lamp!([exclusive spec.ports] [Ignored] []);

/// The same lifecycle by an author who forgot that an apply leaves the elements of others.
pub(crate) mod bare {
    use super::*;

    lamp!([] [Ignored] []);
}

/// The same lifecycle by an author who reports lamps of another keeper.
pub(crate) mod told {
    use super::*;

    lamp!([exclusive spec.ports] [Error wakes grid] [False "Kept" when keeper == Other;]);
}

pub(crate) struct Electrician;

fn keeper(grid: &ConfigMap) -> Option<&String> {
    grid.data.as_ref()?.get("keeper")
}

/// Builds the wiring: every number in the grid's data is a port.
fn cord(grid: &ConfigMap) -> Desired<Service> {
    let port = |(name, port): (&String, &String)| {
        let port: u16 = port.parse().ok()?;
        Some(json!({ "name": name, "port": port, "protocol": "TCP", "targetPort": 1024 + port }))
    };
    let ports: Vec<_> = grid.data.iter().flatten().filter_map(port).collect();
    Desired::from_json(json!({ "spec": { "ports": ports, "selector": { "app": "lamp" } } }))
}

impl LampLogic for Electrician {
    fn keeper(&self, _: This<'_, Lamp>, grid: &ConfigMap) -> Because<Keeper> {
        match keeper(grid) {
            Some(other) => Because::new(Keeper::Other, format!("{other} keeps it")),
            None => Because::plain(Keeper::Ours),
        }
    }

    fn apply_cord(&self, at: ApplyCord<'_>) -> Desired<Service> {
        cord(at.grid)
    }
}

impl bare::LampLogic for Electrician {
    fn keeper(&self, _: This<'_, Lamp>, grid: &ConfigMap) -> Because<bare::Keeper> {
        match keeper(grid) {
            Some(other) => Because::new(bare::Keeper::Other, format!("{other} keeps it")),
            None => Because::plain(bare::Keeper::Ours),
        }
    }

    fn apply_cord(&self, at: bare::ApplyCord<'_>) -> Desired<Service> {
        cord(at.grid)
    }
}
