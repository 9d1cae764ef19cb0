//! A topic of a message broker that a person may take over for a while. It has a poll, calls, a
//! held fact, and two ways to suspend it.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::{CallError, Once};
use lifecycle_runtime::{Because, Desired, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::provider::{Provider, ProviderState};

/// Desired state of a Topic.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "broker.tests",
    version = "v1",
    kind = "Topic",
    namespaced,
    status = "TopicStatus"
)]
pub struct TopicSpec {
    /// Name of the ConfigMap that permits or forbids changes of the broker.
    #[serde(default)]
    pub window: String,
    /// How many partitions it has.
    #[serde(default)]
    pub partitions: u32,
    /// Nothing is done while it is set.
    #[serde(default)]
    pub paused: bool,
}

/// Observed state of a Topic.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopicStatus {
    /// Generation that the rest of the status is about.
    #[serde(default)]
    pub observed_generation: Option<i64>,
    /// Suspended, Stored, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
    /// Pending, Ready, Error or Suspended.
    #[serde(default)]
    pub phase: Option<String>,
}

/// State of a topic, as the broker reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicInfo {
    /// Number of partitions, if the topic exists.
    pub partitions: Option<u32>,
}

/// All topics of a broker, by the uid of the object that they were made for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topics(pub BTreeMap<String, u32>);

/// A broker outside the cluster.
pub type Broker = Provider<Topics>;

impl ProviderState for Topics {
    fn leftovers(&self) -> Vec<String> {
        self.0
            .keys()
            .map(|uid| format!("the topic of {uid}"))
            .collect()
    }

    const MEDDLINGS: &[&str] = &["lose all topics", "change partitions"];

    fn perturb(&mut self, what: &str) {
        match what {
            "lose all topics" => self.0.clear(),
            _ => self.0.values_mut().for_each(|partitions| *partitions = 1),
        }
    }
}

lifecycle! {
    /// A topic of a message broker.
    resource Topic;

    observe {
        window: ConfigMap      by name spec.window;
        broker: poll TopicInfo by meta.uid every 30s;
        secret: owned Secret   by name meta.name;
    }
    facts {
        /// True if its author wants it left alone.
        paused: bool from self;
        /// True if the operators of the broker want no changes at all.
        frozen: bool from window given window else false;
        held entry: { No | Stale, Current } from broker given broker else Unknown;
    }
    states {
        Paused     when paused                       => Suspended wakes self;
        Frozen     when frozen                       => Suspended even deleting wakes window;
        Unseen     when entry == Unknown             => Pending overdue 5min;
        Taken      when secret == Foreign            => Error wakes secret;
        Making     when entry in { No, Stale }       => Pending;
        Draining   when secret == Terminating        => Pending;
        Publishing when secret in { Absent, Stale }  => Pending;
        goal Ready when entry == Current             => Ready;
    }
    effects {
        put:    call broker when entry in { No, Stale } sets { entry = Current } undo remove key meta.uid;
        remove: call broker sets { entry = No } key meta.uid;
        apply secret from broker when entry == Current;
    }
    transitions {
        Unseen -> Taken | Making | Draining | Publishing | Ready;
        Making -> Draining | Publishing | Ready;
        Draining -> Publishing;
        Publishing -> Ready;
    }
    status {
        condition Suspended {
            True "Paused" when paused;
            True "Frozen" when frozen;
            False "Running" otherwise;
        }
        condition Stored {
            False "NameTaken" when secret == Foreign;
            True when entry == Current && secret == Current;
            Unknown "Working" otherwise;
        }
        ready from Stored;
        kstatus;
        field phase = phase;
    }
}

/// The logic of a Topic: where its broker is.
pub struct AtBroker(pub Broker);

fn key(this: This<'_, Topic>) -> String {
    this.meta.uid.clone().unwrap_or_default()
}

impl TopicLogic for AtBroker {
    async fn poll_broker(&self, this: This<'_, Topic>) -> Result<TopicInfo, CallError> {
        let key = key(this);
        let info = |all: &mut Topics| {
            let partitions = all.0.get(&key).copied();
            Ok(TopicInfo { partitions })
        };
        self.0.query(&format!("look at {key}"), info).await
    }

    fn paused(&self, this: This<'_, Topic>) -> Because<bool> {
        match this.spec.paused {
            true => Because::new(true, "spec.paused is true: set it to false to go on"),
            false => Because::plain(false),
        }
    }

    fn frozen(&self, _: This<'_, Topic>, window: &ConfigMap) -> Because<bool> {
        let data = window.data.iter().flatten();
        let says = data
            .into_iter()
            .any(|(name, value)| name == "frozen" && value == "yes");
        match says {
            true => Because::new(true, "nothing of the broker is to be changed now"),
            false => Because::plain(false),
        }
    }

    fn entry(&self, this: This<'_, Topic>, broker: &TopicInfo) -> Because<Entry> {
        match broker.partitions {
            None => Because::new(Entry::No, "there is no such topic"),
            Some(partitions) if partitions != this.spec.partitions => {
                Because::new(Entry::Stale, "it has another number of partitions")
            }
            Some(_) => Because::plain(Entry::Current),
        }
    }

    async fn put(&self, at: Put<'_>, once: Once<'_>) -> Outcome<PutResult> {
        let (key, partitions) = (once.key().to_owned(), at.this.spec.partitions);
        let operation = move |all: &mut Topics| {
            all.0.insert(key, partitions);
            Ok(PutResult::Current)
        };
        let what = format!("put {}", once.key());
        once.spend(self.0.mutate(&what, operation)).await
    }

    async fn remove(&self, _: Remove<'_>, once: Once<'_>) -> Outcome<RemoveResult> {
        let key = once.key().to_owned();
        let operation = move |all: &mut Topics| {
            all.0.remove(&key);
            Ok(RemoveResult::No)
        };
        let what = format!("remove {}", once.key());
        once.spend(self.0.mutate(&what, operation)).await
    }

    fn apply_secret(&self, at: ApplySecret<'_>) -> Desired<Secret> {
        let partitions = at.broker.partitions.unwrap_or_default().to_string();
        Desired::from_object(&Secret {
            data: Some([("partitions".to_owned(), ByteString(partitions.into_bytes()))].into()),
            ..Secret::default()
        })
    }
}
