//! An apply with more declared results than its target. A deviation from the declaration is
//! reported.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::*;
use crate::lifecycle::{Because, Desired, This};

#[derive(CustomResource, Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[kube(group = "tests", version = "v1", kind = "Lamp", namespaced)]
pub(crate) struct LampSpec {}

crate::lifecycle! {
    /// A lamp that is lit by its bulb alone.
    resource Lamp;

    observe {
        bulb: owned ConfigMap by name meta.name;
    }
    facts {
        light: { Off, On } from bulb given bulb in { Stale, Current };
    }
    states {
        Taken    when bulb == Foreign           => Error wakes bulb, self;
        Leaving  when bulb == Terminating       => Pending;
        Changing when bulb in { Absent, Stale } => Pending;
        Dark     when light == Off              => Error wakes bulb;
        goal Lit when light == On               => Ready;
    }
    effects {
        apply bulb sets { bulb = Current, light = On };
    }
    transitions {
        Leaving -> Changing;
        Changing -> Lit;
    }
    status {
        condition Shines {
            False "Taken" when bulb == Foreign;
            Unknown "NoBulb" when bulb not in { Stale, Current };
            True when light == On;
            False "Dark" otherwise;
        }
        ready from Shines;
        field phase = phase;
    }
}

struct Electrician;

impl LampLogic for Electrician {
    fn light(&self, _: This<'_, Lamp>, bulb: &ConfigMap) -> Because<Light> {
        let data = bulb.data.iter().flatten();
        let is_broken = data.into_iter().any(|(key, _)| key == "broken");
        Because::plain(if is_broken { Light::Off } else { Light::On })
    }

    fn apply_bulb(&self, at: ApplyBulb<'_>) -> Desired<ConfigMap> {
        Desired::from_json(
            json!({ "metadata": { "name": at.this.meta.name }, "data": { "watts": "60" } }),
        )
    }
}

const BULBS: &str = "/configmaps/";

/// Lamps by name on a server that does this with their bulbs.
fn lamps(names: &[&str], policy: impl Fn(&str) -> Answer + Send + 'static) -> Sim {
    let mut sim = Sim::for_machine(Arc::new(machine(Electrician)), 1, policy);
    for name in names {
        let lamp = json!({
            "apiVersion": "tests/v1", "kind": "Lamp", "spec": {},
            "metadata": { "name": name, "namespace": "ns", "uid": name, "resourceVersion": "7", "generation": 1 },
        });
        sim.server
            .with_state(|s| s.objects.insert(path(name), lamp.clone()));
        sim.deliver(lamp);
    }
    sim
}

fn path(name: &str) -> String {
    format!("/apis/tests/v1/namespaces/ns/lamps/{name}")
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

#[tokio::test(start_paused = true)]
async fn an_apply_that_leads_where_it_is_declared_to_is_not_spoken_of() {
    let mut sim = lamps(&["l"], |_| Answer::Do);
    sim.run(HOUR).await;
    assert_eq!(
        condition_text(&sim, "l", "Shines").as_deref(),
        Some("True/Shines/")
    );
    assert_eq!(sim.server.count(BULBS), 1);
    assert!(
        sim.controller
            .settings
            .counters
            .read()
            .contradictions
            .is_empty()
    );
}

#[tokio::test(start_paused = true)]
async fn an_apply_that_does_not_set_what_it_declares_is_told_and_stops_no_other() {
    let mut sim = lamps(&["broken", "whole"], |line| {
        match line.ends_with("configmaps/broken") {
            true => Answer::Change(json!({ "data": { "broken": "yes" } })),
            false => Answer::Do,
        }
    });
    sim.run(Duration::from_millis(500)).await;
    let said = condition_text(&sim, "broken", "Contradiction").unwrap_or_default();
    let sets =
        "True/UndeclaredOutcome/`apply_bulb` sets { bulb = Current, light = On }, but led to ";
    assert!(
        said.starts_with(sets) && said.contains("light == Off"),
        "{said}"
    );
    let ready = condition_text(&sim, "broken", "Ready").unwrap_or_default();
    assert!(ready.starts_with("False/UndeclaredOutcome/"), "{ready}");
    let counts = sim.controller.settings.counters.read();
    let counted: Vec<String> = counts
        .contradictions
        .keys()
        .map(ToString::to_string)
        .collect();
    assert_eq!(counted, ["Lamp `ns/broken`"]);
    assert_eq!(
        condition_text(&sim, "whole", "Shines").as_deref(),
        Some("True/Shines/")
    );
    assert_eq!(sim.server.count(BULBS), 2);
}
