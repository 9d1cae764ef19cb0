//! Fact that receives the current time and returns how long its value holds. The runtime evaluates
//! it again at that time, and not before.

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use lifecycle_runtime::lifecycle::Timed;
use lifecycle_runtime::{Because, Desired, Operator, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of a Notice, which expires by itself.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "examples.test",
    version = "v1",
    kind = "Notice",
    namespaced,
    status = "NoticeStatus"
)]
pub(crate) struct NoticeSpec {
    pub(crate) text: String,
    /// Number of seconds for which the notice hangs.
    pub(crate) seconds: u32,
}

/// Observed state of a Notice.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub(crate) struct NoticeStatus {
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub(crate) conditions: Vec<Condition>,
}

lifecycle! {
    /// Hangs for as long as it is meant to be read.
    resource Notice;

    observe {
        now:   clock;
        board: owned ConfigMap by name meta.name;
    }
    facts {
        /// True if its time is over.
        over: bool from self, now;
    }
    states {
        goal Over   when over && board == Absent          => Ready;
        Taken       when board == Foreign                 => Error wakes board, self;
        Removing    when over || board == Terminating     => Pending;
        Hanging     when board in { Absent, Stale }       => Pending;
        goal Hung   when board == Current                 => Ready;
    }
    effects {
        apply board when !over;
        delete board when over;
    }
    transitions {
        Removing -> Over | Hanging;
        Hanging -> Hung;
    }
    status {
        condition Hung {
            True "Over"         when over && board == Absent;
            False "NameTaken"   when board == Foreign;
            Unknown "Removing"  when over || board == Terminating;
            Unknown "Hanging"   when board in { Absent, Stale };
            True "Hung"         otherwise;
        }
        ready from Hung;
    }
}

/// Logic that supplies the duration and the text of a notice.
pub(crate) struct Board;

impl NoticeLogic for Board {
    fn over(&self, this: This<'_, Notice>, now: &Timestamp) -> Timed<bool> {
        let Some(created) = &this.meta.creation_timestamp else {
            return Because::plain(false).for_good();
        };
        let lasts = SignedDuration::from_secs(this.spec.seconds.into());
        let end = created.0.checked_add(lasts).unwrap_or(Timestamp::MAX);
        match *now < end {
            true => Because::plain(false).until(end),
            false => Because::new(true, format!("its time was over at {end}")).for_good(),
        }
    }

    fn apply_board(&self, at: ApplyBoard<'_>) -> Desired<ConfigMap> {
        let text = ("text".to_owned(), at.this.spec.text.clone());
        Desired::from_object(&ConfigMap {
            data: Some([text].into()),
            ..ConfigMap::default()
        })
    }
}

/// All of the operator.
pub(crate) fn operator() -> Operator {
    Operator::new("examples.test").run(machine(Board))
}

/// A Notice.
pub(crate) const OBJECTS: &str = "
apiVersion: examples.test/v1
kind: Notice
metadata: {name: sale, namespace: default}
spec: {text: today only, seconds: 2}
";
