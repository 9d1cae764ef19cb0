//! Teardown of the object. Every observed fact is undone and every held resource is released,
//! unless the cleanup was abandoned and that was reported.

use std::sync::Arc;

use http::Method;
use lifecycle_oracle::meaning::truth::truth;
use lifecycle_oracle::meaning::{Named, Step, WorldClass};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Run, SUBJECT};
use crate::reality::Now;

/// Path of the events.
const EVENTS: &str = "/apis/events.k8s.io/v1/namespaces/default/events";

impl Run<'_> {
    /// The object is deleted, and leaves nothing behind.
    pub(super) async fn end(&mut self) {
        let held_before = self
            .last
            .as_ref()
            .map(|pass| self.meaning.held_facts(&pass.world));
        let Some(mut this) = self.cluster.get(0, SUBJECT) else {
            return;
        };
        this["metadata"]["deletionTimestamp"] = json!("2020-01-01T00:00:00Z");
        self.moved = Some((Instant::now(), false));
        self.cluster.delete(0, SUBJECT, false);
        self.settle().await;
        if !self.is_over {
            self.help().await;
        }
        for _ in 0..20 {
            if self.is_over {
                return;
            }
            let Some(world) = self.world() else {
                break;
            };
            let ways = self.meaning.promised(&world);
            let Some(way) = self.dice.pick(&ways).cloned() else {
                break;
            };
            self.moved = Some((Instant::now(), true));
            for (fact, value) in way {
                self.force(&fact, &value);
            }
            self.settle().await;
        }
        if self.is_over {
            return;
        }
        if self.is_held_up() {
            return;
        }
        if self.cluster.get(0, SUBJECT).is_some() {
            self.find("not gone: the object is deleted and stays");
            return;
        }
        let gone = Now {
            cluster: &self.cluster,
            machine: &self.machine,
            naming: &self.naming,
            this: Arc::new(this),
        };
        let world = truth(self.meaning, &gone, &Named::new());
        if self.was_given_up() {
            return;
        }
        if let Some(step) = world.as_ref().ok().and_then(|world| self.undone(world)) {
            self.find(format!("left undone: `{step}` although the object is gone"));
            return;
        }
        let held = world.map_or_else(|_| Vec::new(), |world| self.meaning.held_facts(&world));
        let unseen = |fact: &&String| {
            // A resource that could not be observed before cannot be reported now.
            held_before
                .as_ref()
                .is_none_or(|before| !before.contains(fact) || self.is_taken(fact))
        };
        let held: Vec<&String> = held.iter().filter(unseen).collect();
        if !held.is_empty() {
            self.find(format!(
                "leak: {held:?} is held although the object is gone"
            ));
        }
    }

    fn is_taken(&self, fact: &str) -> bool {
        let last = self.last.as_ref().and_then(|pass| pass.world.get(fact));
        last.is_some_and(|value| value != "Unknown" && value != "Unseen")
    }

    /// Counts the steps that run.
    pub(super) fn note_steps(&mut self, step: &Step) {
        let is_step = |name: &String| {
            let ir = self.machine.ir;
            let mut steps = ir.steps.iter();
            steps.any(|step| ir.effects[step.effect].name == *name)
        };
        let counts = matches!(step, Step::Run(name) if is_step(name));
        self.ran.torn_down += usize::from(counts);
    }

    /// Returns true if the object was removed although something was left. An event must have
    /// reported that.
    fn was_given_up(&mut self) -> bool {
        let Some(last) = self.last.clone() else {
            return false;
        };
        let goes = last.place == Some(WorldClass::Deleting) && last.step == Step::Release;
        if !goes || !self.meaning.is_left(&last.world) {
            return false;
        }
        self.ran.given_up += 1;
        let events = self.cluster.request(Method::GET, EVENTS, &Value::Null);
        let events = events.unwrap_or_default();
        let mut events = events["items"].as_array().into_iter().flatten();
        let is_told = events.any(|event| {
            let note = event["note"].as_str().unwrap_or_default();
            let about = event["regarding"]["name"] == SUBJECT && event["reason"] == "Abandoned";
            about && note.contains("left behind: `")
        });
        if !is_told {
            self.find("untold: something was left behind, and nobody was told");
        }
        true
    }

    /// A step that is not over for sure, of an object that the driver let go.
    fn undone(&self, world: &Named) -> Option<String> {
        let last = self.last.as_ref()?;
        let goes = last.place == Some(WorldClass::Deleting) && last.step == Step::Release;
        self.meaning.undone(world).into_iter().find(|_| goes)
    }
}
