//! Tests of ruled-out properties that are met at run time: the object stops and reports so, and all
//! others go on.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::*;
use crate::lifecycle::call::{CallError, Once, Outcome};
use crate::lifecycle::{Because, This};

#[derive(CustomResource, Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[kube(group = "tests", version = "v1", kind = "Tank", namespaced)]
pub(crate) struct TankSpec {
    /// How many calls it takes until it is full.
    pub(crate) takes: u64,
    /// True if the tank stands upside down.
    #[serde(default)]
    pub(crate) tilts: bool,
}

#[derive(PartialEq)]
pub(crate) struct Drops {
    full: bool,
    tilts: bool,
}

crate::lifecycle! {
    /// A tank that is filled with one call.
    resource Tank;

    observe {
        gauge: poll Drops by meta.uid every 2s;
    }
    facts {
        level:       { Empty, Full } from gauge given gauge else Empty;
        upside_down: bool from gauge given gauge else false;
        never upside_down && level == Full;
    }
    states {
        Unread     when !gauge         => Pending;
        Turned     when upside_down    => Error wakes gauge;
        Empty      when level == Empty => Pending;
        goal Full  when level == Full  => Ready;
    }
    effects {
        fill: call gauge when !upside_down sets { level = Full } key meta.uid;
    }
    transitions {
        Unread -> Turned | Empty | Full;
        Empty -> Full;
    }
    status {
        condition Filled {
            False "Turned" when upside_down;
            True when level == Full;
            Unknown "Empty" otherwise;
        }
        ready from Filled;
        field phase = phase;
    }
}

/// Calls by tank.
#[derive(Clone, Default)]
struct Well(Arc<Mutex<BTreeMap<String, u64>>>);

impl Well {
    fn calls(&self, of: &str) -> u64 {
        *self.all().entry(of.to_owned()).or_default()
    }

    fn all(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn name(this: This<'_, Tank>) -> String {
    this.meta.name.clone().unwrap_or_default()
}

impl TankLogic for Well {
    async fn poll_gauge(&self, this: This<'_, Tank>) -> Result<Drops, CallError> {
        let poured = self.calls(&name(this));
        Ok(Drops {
            full: poured >= this.spec.takes,
            tilts: this.spec.tilts,
        })
    }

    async fn fill(&self, at: Fill<'_>, once: Once<'_>) -> Outcome<FillResult> {
        *self.all().entry(name(at.this)).or_default() += 1;
        once.spend(std::future::ready(Ok(FillResult::Full))).await
    }

    fn level(&self, _: This<'_, Tank>, gauge: &Drops) -> Because<Level> {
        Because::plain(if gauge.full {
            Level::Full
        } else {
            Level::Empty
        })
    }

    fn upside_down(&self, _: This<'_, Tank>, gauge: &Drops) -> Because<bool> {
        Because::plain(gauge.tilts)
    }
}

fn tank(name: &str, spec: &Value, version: u64) -> Value {
    json!({
        "apiVersion": "tests/v1", "kind": "Tank", "spec": spec,
        "metadata": { "name": name, "namespace": "ns", "uid": name, "resourceVersion": version.to_string(), "generation": version },
    })
}

fn path(name: &str) -> String {
    format!("/apis/tests/v1/namespaces/ns/tanks/{name}")
}

/// Returns tanks by name and spec, and their well.
fn tanks(specs: &[(&str, Value)]) -> (Sim, Well) {
    let well = Well::default();
    let mut sim = Sim::for_machine(Arc::new(machine(well.clone())), 1, |_| Answer::Do);
    for (name, spec) in specs {
        put_tank(&mut sim, name, spec, 7);
    }
    (sim, well)
}

fn put_tank(sim: &mut Sim, name: &str, spec: &Value, version: u64) {
    let tank = tank(name, spec, version);
    sim.server
        .with_state(|s| s.objects.insert(path(name), tank.clone()));
    sim.deliver(tank);
}

/// A condition by type, as `status/reason/message`.
fn condition_text(sim: &Sim, name: &str, condition: &str) -> Option<String> {
    let object = sim.server.with_state(|s| s.objects[&path(name)].clone());
    let rows = object["status"]["conditions"].as_array()?.clone();
    let row = rows.into_iter().find(|row| row["type"] == condition)?;
    let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let (status, reason) = (text("status"), text("reason"));
    Some(format!("{status}/{reason}/{}", text("message")))
}

fn counted(sim: &Sim) -> Vec<String> {
    let counts = sim.controller.settings.counters.read();
    counts
        .contradictions
        .keys()
        .map(ToString::to_string)
        .collect()
}

const FULL: &str = "True/Filled/";

#[tokio::test(start_paused = true)]
async fn an_effect_that_leads_where_it_is_declared_to_is_not_spoken_of() {
    let (mut sim, well) = tanks(&[("t", json!({ "takes": 1 }))]);
    sim.run(HOUR).await;
    assert_eq!(condition_text(&sim, "t", "Filled").as_deref(), Some(FULL));
    assert_eq!((well.calls("t"), counted(&sim)), (1, Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn an_answer_from_before_the_call_is_no_undeclared_outcome() {
    let (mut sim, well) = tanks(&[("t", json!({ "takes": 2 }))]);
    sim.run(Duration::from_secs(10)).await;
    assert_eq!(condition_text(&sim, "t", "Filled").as_deref(), Some(FULL));
    assert_eq!((well.calls("t"), counted(&sim)), (2, Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn an_undeclared_outcome_stops_that_object_and_no_other() {
    let never = json!({ "takes": 1_000_000 });
    let (mut sim, well) = tanks(&[("leaks", never), ("other", json!({ "takes": 1 }))]);
    sim.run(HOUR).await;
    let said = condition_text(&sim, "leaks", "Contradiction").unwrap_or_default();
    assert!(
        said.starts_with("True/UndeclaredOutcome/`fill` sets { level = Full }, but led to ")
            && said.contains("level == Empty"),
        "{said}"
    );
    let ready = condition_text(&sim, "leaks", "Ready").unwrap_or_default();
    assert!(ready.starts_with("False/UndeclaredOutcome/"), "{ready}");
    let calls = well.calls("leaks");
    assert!((5..25).contains(&calls), "{calls} calls in an hour");
    assert_eq!(counted(&sim), ["Tank `ns/leaks`"]);
    assert_eq!(
        condition_text(&sim, "other", "Filled").as_deref(),
        Some(FULL)
    );
    assert_eq!(well.calls("other"), 1);
    let events = sim.server.count("/events");
    assert!((1..=2).contains(&events), "{events} events");
}

#[tokio::test(start_paused = true)]
async fn what_was_stopped_goes_on_at_once_when_something_changes() {
    let (mut sim, well) = tanks(&[("t", json!({ "takes": 1_000_000 }))]);
    sim.run(Duration::from_secs(3000)).await;
    let calls = well.calls("t");
    put_tank(&mut sim, "t", &json!({ "takes": calls + 1 }), 900);
    sim.run(Duration::from_secs(5)).await;
    assert_eq!(condition_text(&sim, "t", "Filled").as_deref(), Some(FULL));
    assert_eq!(condition_text(&sim, "t", "Contradiction"), None);
    assert_eq!(well.calls("t"), calls + 1);
}

#[tokio::test(start_paused = true)]
async fn a_world_that_cannot_be_is_told_with_the_item_that_rules_it_out() {
    let both = json!({ "takes": 0, "tilts": true });
    let (mut sim, well) = tanks(&[("t", both), ("other", json!({ "takes": 1 }))]);
    sim.run(HOUR).await;
    let said = condition_text(&sim, "t", "Contradiction").unwrap_or_default();
    let item = "True/NeverWorld/`never upside_down && level == Full` cannot be and is, so nothing is done: ";
    assert!(said.starts_with(item), "{said}");
    assert_eq!(
        (well.calls("t"), counted(&sim)),
        (0, vec!["Tank `ns/t`".to_owned()])
    );
    assert_eq!(
        condition_text(&sim, "other", "Filled").as_deref(),
        Some(FULL)
    );
}
