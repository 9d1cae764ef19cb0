//! Tests of polls. A poll is queried wherever its `given` holds, because its answer is promised
//! there. This includes empty sets, missing objects, and empty keys.

use std::future::ready;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Observed;
use crate::cluster::fixture::Caches;
use crate::lifecycle::{Because, CallError, This};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "tests", version = "v1", kind = "Gauge", namespaced)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GaugeSpec {
    class_name: String,
    #[serde(default)]
    host: Option<String>,
}

/// Level in the environment, outside Kubernetes.
#[derive(PartialEq)]
pub(crate) struct Level(u8);

crate::lifecycle! {
    /// One of each way to ask.
    resource Gauge;

    observe {
        class:    ConfigMap  by name spec.class_name;
        keys:     [Secret]   by namespace;
        of_keys:  poll Level by keys every 2s;
        of_class: poll Level by class every 2s;
        of_host:  poll Level by spec.host every 2s;
        of_all:   poll Level every 2s;
        of_more:  poll Level by spec.host, keys, class, class.meta.name every 2s;
    }
    facts {
        high: bool from of_keys, of_class, of_host, of_all given of_keys && of_class && of_host && of_all;
        more: bool from of_more given of_more else false;
    }
    states {
        Unknown    when !of_keys || !of_class || !of_host || !of_all => Pending;
        Unsaid     when !of_more && !more                            => Pending;
        goal High  when high                                         => Ready;
        goal Low   when !high                                        => Ready;
    }
    transitions {
        Unknown -> Unsaid | High | Low;
        Unsaid -> High | Low;
    }
    status {
        condition Told {
            True when of_keys && of_class && of_host && of_all && of_more;
            Unknown "Unknown" otherwise;
        }
        ready from Told;
    }
}

struct Reader;

type Answered = Result<Level, CallError>;

impl GaugeLogic for Reader {
    fn poll_of_keys(
        &self,
        _: This<'_, Gauge>,
        keys: Vec<&Secret>,
    ) -> impl Future<Output = Answered> + Send {
        ready(Ok(Level(u8::try_from(keys.len()).unwrap_or(9))))
    }
    fn poll_of_class(
        &self,
        _: This<'_, Gauge>,
        class: Option<&ConfigMap>,
    ) -> impl Future<Output = Answered> + Send {
        ready(Ok(Level(u8::from(class.is_some()))))
    }
    fn poll_of_host(&self, this: This<'_, Gauge>) -> impl Future<Output = Answered> + Send {
        ready(Ok(Level(u8::from(this.spec.host.is_some()))))
    }
    fn poll_of_all(&self, _: This<'_, Gauge>) -> impl Future<Output = Answered> + Send {
        ready(Ok(Level(3)))
    }
    fn poll_of_more(
        &self,
        this: This<'_, Gauge>,
        keys: Vec<&Secret>,
        class: Option<&ConfigMap>,
    ) -> impl Future<Output = Answered> + Send {
        let there = [this.spec.host.is_some(), class.is_some()];
        let there = there.into_iter().filter(|there| *there).count();
        ready(Ok(Level(
            u8::try_from(10 + there + keys.len()).unwrap_or(9),
        )))
    }
    fn more(&self, _: This<'_, Gauge>, more: &Level) -> Because<bool> {
        Because::plain(more.0 > 10)
    }
    fn high(
        &self,
        _: This<'_, Gauge>,
        keys: &Level,
        class: &Level,
        host: &Level,
        all: &Level,
    ) -> Because<bool> {
        Because::plain(keys.0 + class.0 + host.0 + all.0 > 4)
    }
}

fn object(kind: &str, name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": kind,
        "metadata": { "name": name, "namespace": "ns", "uid": format!("uid-of-{name}"), "resourceVersion": "5" },
    })
}

/// Checks the polls, and the answer to each.
fn check(host: Option<&str>, objects: &[Value], expected: [(&str, u8); 5]) {
    let (machine, observed) = observe(host, objects);
    let asked: Vec<(&str, u8)> = observed
        .polls
        .iter()
        .map(|(input, key)| {
            let asking = crate::Machine::poll(&*machine, &observed.observation, *input);
            let answer = futures::FutureExt::now_or_never(asking.expect("it can be asked"));
            let answer = answer.expect("at once").expect("an answer").answer;
            let level: &Level = answer.downcast_ref().expect("a level");
            (key.as_str(), level.0)
        })
        .collect();
    assert_eq!(asked, expected);
}

fn observe(host: Option<&str>, objects: &[Value]) -> (Arc<GaugeMachine<Reader>>, Observed) {
    let gauge = json!({
        "apiVersion": "tests/v1", "kind": "Gauge", "spec": { "className": "c", "host": host },
        "metadata": { "name": "g", "namespace": "ns", "uid": "u", "resourceVersion": "7", "generation": 1 },
    });
    let machine = Arc::new(machine(Reader));
    let observed = Caches::for_machine(machine.clone(), objects).observe(gauge);
    assert_eq!(observed.failure, None);
    (machine, observed)
}

#[test]
fn a_poll_is_asked_about_what_there_is_and_about_nothing() {
    let all = [object("ConfigMap", "c"), object("Secret", "s")];
    let several = r#"["h","uid-of-s","uid-of-c","c"]"#;
    let asked = [
        ("uid-of-s", 1),
        ("uid-of-c", 1),
        ("h", 1),
        ("", 3),
        (several, 13),
    ];
    check(Some("h"), &all, asked);
    let several = "[null,null,null,null]";
    check(
        None,
        &[],
        [("", 0), ("", 0), ("", 0), ("", 3), (several, 10)],
    );
}

/// Keys that are written one after another could be read in two ways: `a","b` beside `c`, and `a` beside `b","c`.
#[test]
fn no_two_lists_of_keys_are_one_text() {
    let key = |host: &str, class: &str| {
        let objects = [object("ConfigMap", class), object("Secret", "s")];
        let (_, observed) = observe(Some(host), &objects);
        observed.polls.last().expect("it is asked").1.clone()
    };
    assert_ne!(key("h", "c"), key("h\",\"uid-of-s", "c"));
    assert_ne!(key("h", "c"), key("h", "d"));
    assert_ne!(key("h", "c"), key("i", "c"));
    assert_eq!(key("h", "c"), key("h", "c"));
}
