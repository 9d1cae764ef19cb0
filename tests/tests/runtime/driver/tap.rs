//! System outside Kubernetes: a Tap opens a tap of a tank, queries the tank's state, and closes the
//! tap before it is deleted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use kube::CustomResource;
use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::{CallError, Once};
use lifecycle_runtime::{Because, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "tests.lifecycle",
    version = "v1",
    kind = "Tap",
    namespaced,
    status = "TapStatus"
)]
pub(crate) struct TapSpec {
    pub(crate) tank: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TapStatus {
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub(crate) conditions: Vec<k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition>,
}

/// The taps of a tank that are open, by the uid of the object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Level {
    pub(crate) open: BTreeSet<String>,
}

lifecycle! {
    /// Opens a tap of a tank.
    resource Tap;

    allow LC160 open_tap "nobody edits the name of a tank in these tests";

    observe {
        tank: poll Level by spec.tank every 200ms;
    }
    facts {
        held valve: { No | Current } from tank given tank else Unknown;
    }
    states {
        Unreachable when valve == Unknown                  => Pending overdue 5min;
        Rejected    when refused(open_tap)               => Error wakes self, tank;
        Opening     when valve == No                       => Pending;
        goal Ready  when valve == Current                  => Ready;
    }
    effects {
        open_tap:  call tank when valve == No sets { valve = Current } undo close_tap key meta.uid;
        close_tap: call tank sets { valve = No } key meta.uid;
    }
    transitions {
        Unreachable -> Opening | Ready;
        Opening -> Ready | Rejected;
    }
    status {
        condition Open {
            True when valve == Current;
            False "Rejected" when refused(open_tap);
            Unknown "Opening" otherwise;
        }
        ready from Open;
    }
}

/// Tanks, and the operations that they were requested to do.
#[derive(Clone, Default)]
pub(crate) struct Tanks(Arc<Mutex<Inner>>);

#[derive(Clone, Default)]
pub(crate) struct Inner {
    pub(crate) open: BTreeMap<String, BTreeSet<String>>,
    pub(crate) calls: Vec<String>,
    pub(crate) polls: u64,
    pub(crate) down: bool,
    pub(crate) full: bool,
}

impl Tanks {
    pub(crate) fn with_state<R>(&self, change: impl FnOnce(&mut Inner) -> R) -> R {
        change(
            &mut self
                .0
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner),
        )
    }

    fn write(&self, call: String, change: impl FnOnce(&mut Inner)) -> Result<(), CallError> {
        self.with_state(|inner| {
            inner.calls.push(call);
            if inner.down {
                return Err(CallError::Failed("the tank does not answer".to_owned()));
            }
            if inner.full {
                return Err(CallError::Refused(
                    "no tap is free: order a bigger tank".to_owned(),
                ));
            }
            change(inner);
            Ok(())
        })
    }
}

pub(crate) struct Plumber(pub(crate) Tanks);

impl TapLogic for Plumber {
    fn valve(&self, this: This<'_, Tap>, level: &Level) -> Because<Valve> {
        let uid = this.meta.uid.clone().unwrap_or_default();
        Because::plain(if level.open.contains(&uid) {
            Valve::Current
        } else {
            Valve::No
        })
    }

    async fn poll_tank(&self, this: This<'_, Tap>) -> Result<Level, CallError> {
        self.0.with_state(|inner| {
            inner.polls += 1;
            if inner.down {
                return Err(CallError::Failed("the tank does not answer".to_owned()));
            }
            let open = inner.open.get(&this.spec.tank).cloned();
            Ok(Level {
                open: open.unwrap_or_default(),
            })
        })
    }

    async fn open_tap(&self, at: OpenTap<'_>, once: Once<'_>) -> Outcome<OpenTapResult> {
        let (key, tank) = (once.key().to_owned(), at.this.spec.tank.clone());
        once.spend(async {
            self.0.write(format!("open {key}"), |inner| {
                inner.open.entry(tank).or_default().insert(key.clone());
            })?;
            Ok(OpenTapResult::Current)
        })
        .await
    }

    async fn close_tap(&self, at: CloseTap<'_>, once: Once<'_>) -> Outcome<CloseTapResult> {
        let (key, tank) = (once.key().to_owned(), at.this.spec.tank.clone());
        once.spend(async {
            self.0.write(format!("close {key}"), |inner| {
                inner.open.entry(tank).or_default().remove(&key);
            })?;
            Ok(CloseTapResult::No)
        })
        .await
    }
}
