//! Tells what becomes of Listeners, a line for each change, until all that were asked for are Ready.
//! States come from the passes of the operator as they decide; that one is Ready is believed only when its status says so.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::bail;
use futures::TryStreamExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::runtime::watcher::{self, Event};
use kube::{Api, Client, ResourceExt};
use lifecycle_runtime::controller::{Moment, Passed, Trace};
use lifecycle_runtime::machine::ir::Phase;
use lifecycle_runtime::machine::policy::Class;
use lifecycle_specs::listener::{Listener, ListenerStatus};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::manifests::Wanted;
use super::{complain, say};

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// All is Ready.
    Ready,
    /// Something was not Ready in time.
    Unready,
    /// Somebody wanted it to end.
    Stopped,
}

/// What a pass decided, in a line.
#[derive(Debug)]
struct Told {
    of: Wanted,
    phase: Phase,
    line: String,
}

/// Looks on while the operator works.
struct Onlooker(UnboundedSender<Told>);

impl Trace for Onlooker {
    fn saw(&self, moment: &Moment<'_>) {
        if let Moment::Passed(passed) = moment
            && passed.object.kind == "Listener"
        {
            // Nobody listens any more once the sandbox ends.
            let _unheard = self.0.send(told(passed));
        }
    }
}

fn told(passed: &Passed<'_>) -> Told {
    let ir = passed.lifecycle;
    let state = match passed.class {
        Class::State(state) => ir.states[state].name,
        Class::Deleting => "Deleting",
        Class::Refused { .. } => "Refused",
        Class::Contradiction => "Unclear",
    };
    let conditions = ir.conditions(&passed.board.world, &passed.board.sentences);
    let why = match (&passed.failure, conditions.last()) {
        (Some(failure), _) => failure.clone(),
        (None, Some(ready)) => reason(&ready.reason, &ready.message),
        (None, None) => String::new(),
    };
    let name = passed.object;
    Told {
        of: Wanted {
            namespace: name.namespace.clone().unwrap_or_default(),
            name: name.name.clone(),
        },
        phase: ir.phase(passed.class),
        line: format!("{state:<12}  {why}").trim_end().to_owned(),
    }
}

fn reason(reason: &str, message: &str) -> String {
    if message.is_empty() {
        reason.to_owned()
    } else {
        format!("{reason}: {message}")
    }
}

/// What is followed, and what was said of it last.
pub(super) struct Follow {
    began: Instant,
    passes: UnboundedReceiver<Told>,
    last: BTreeMap<Wanted, Said>,
}

#[derive(Clone, Debug, PartialEq)]
struct Said {
    line: String,
    ready: bool,
}

impl Follow {
    /// Follows all Listeners, and the onlooker to be given to the operator.
    pub(super) fn new() -> (Self, Arc<dyn Trace>) {
        let (sender, passes) = unbounded_channel();
        let follow = Self {
            began: Instant::now(),
            passes,
            last: BTreeMap::new(),
        };
        (follow, Arc::new(Onlooker(sender)))
    }

    /// Tells of changes until all that is wanted is Ready, or the time is over.
    pub(super) async fn until_ready(
        &mut self,
        client: &Client,
        wanted: &[Wanted],
        limit: Duration,
    ) -> anyhow::Result<Verdict> {
        if wanted.is_empty() {
            return Ok(Verdict::Ready);
        }
        match tokio::time::timeout(limit, self.follow(client, wanted)).await {
            Ok(done) => done.map(|()| Verdict::Ready),
            Err(_) => {
                complain(&format!(
                    "not Ready within {} s: {}",
                    limit.as_secs(),
                    self.unready(wanted)
                ));
                Ok(Verdict::Unready)
            }
        }
    }

    /// Tells of changes for ever.
    pub(super) async fn forever(&mut self, client: &Client) -> Infallible {
        // Nobody is waited for, so that it ends only when the watch does.
        loop {
            if let Err(error) = self.follow(client, &[]).await {
                tracing::debug!("{error}");
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    async fn follow(&mut self, client: &Client, wanted: &[Wanted]) -> anyhow::Result<()> {
        let listeners: Api<Listener> = Api::all(client.clone());
        let mut changes = pin!(watcher::watcher(listeners, watcher::Config::default()));
        loop {
            tokio::select! {
                biased;
                Some(told) = self.passes.recv() => self.note_pass(told),
                event = changes.try_next() => match event? {
                    Some(Event::Apply(listener) | Event::InitApply(listener)) => self.note_status(&listener),
                    Some(Event::Delete(listener)) => self.note_end(&listener),
                    Some(Event::Init | Event::InitDone) => {}
                    None => bail!("the API server ended the watch"),
                },
            }
            let ready = |wanted: &Wanted| self.last.get(wanted).is_some_and(|said| said.ready);
            if !wanted.is_empty() && wanted.iter().all(ready) {
                return Ok(());
            }
        }
    }

    /// That a pass finds it Ready is told when its status says so, with its addresses.
    fn note_pass(&mut self, told: Told) {
        if told.phase != Phase::Ready {
            self.note(
                told.of,
                Said {
                    line: told.line,
                    ready: false,
                },
            );
        }
    }

    fn note_status(&mut self, listener: &Listener) {
        let status = listener.status.clone().unwrap_or_default();
        if is_ready(listener, &status) {
            let line = format!("{:<12}  at {}", "Ready", addresses(&status));
            self.note(key(listener), Said { line, ready: true });
        }
    }

    fn note_end(&mut self, listener: &Listener) {
        self.note(
            key(listener),
            Said {
                line: "Gone".to_owned(),
                ready: false,
            },
        );
        self.last.remove(&key(listener));
    }

    fn note(&mut self, of: Wanted, said: Said) {
        if self.last.get(&of) == Some(&said) {
            return;
        }
        let after = self.began.elapsed().as_secs_f64();
        say(&format!(
            "{after:8.3} s  {}/{}  {}",
            of.namespace, of.name, said.line
        ));
        self.last.insert(of, said);
    }

    fn unready(&self, wanted: &[Wanted]) -> String {
        let lines = wanted.iter().filter_map(|wanted| {
            let said = match self.last.get(wanted) {
                Some(said) if said.ready => return None,
                Some(said) => said.line.split_whitespace().collect::<Vec<_>>().join(" "),
                None => "nothing was seen of it".to_owned(),
            };
            Some(format!("{}/{}: {said}", wanted.namespace, wanted.name))
        });
        lines.collect::<Vec<_>>().join("; ")
    }
}

fn key(listener: &Listener) -> Wanted {
    Wanted {
        namespace: listener.namespace().unwrap_or_default(),
        name: listener.name_any(),
    }
}

/// Whether its status says that it is Ready as it is wanted now.
fn is_ready(listener: &Listener, status: &ListenerStatus) -> bool {
    let current = listener.metadata.generation;
    let ready = |condition: &Condition| {
        (condition.type_.as_str(), condition.status.as_str()) == ("Ready", "True")
            && condition.observed_generation == current
    };
    status.conditions.iter().flatten().any(ready)
}

fn addresses(status: &ListenerStatus) -> String {
    let addresses = status.ingress_addresses.iter().flatten();
    let each = addresses.flat_map(|ingress| {
        ingress
            .ports
            .values()
            .map(move |port| format!("{}:{port}", ingress.address))
    });
    each.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn listener(status: &Value) -> Listener {
        let listener = json!({
            "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
            "metadata": { "name": "a", "namespace": "d", "generation": 2 }, "spec": {}, "status": status,
        });
        serde_json::from_value(listener).unwrap()
    }

    fn status(ready: &str, generation: i64) -> Value {
        json!({
            "conditions": [{ "type": "Ready", "status": ready, "reason": "R", "message": "", "observedGeneration": generation,
                             "lastTransitionTime": "2024-01-01T00:00:00Z" }],
            "ingressAddresses": [{ "address": "a.svc", "addressType": "Hostname", "ports": { "http": 80, "x": 81 } }],
        })
    }

    fn wanted(name: &str) -> Wanted {
        Wanted {
            namespace: "d".to_owned(),
            name: name.to_owned(),
        }
    }

    #[test]
    fn only_a_status_of_the_present_generation_makes_it_ready() {
        let (mut follow, _) = Follow::new();
        for stale in [status("True", 1), status("False", 2), json!({})] {
            follow.note_status(&listener(&stale));
            assert!(follow.last.is_empty(), "{stale}");
        }
        follow.note_status(&listener(&status("True", 2)));
        assert_eq!(
            follow.last[&wanted("a")],
            Said {
                line: "Ready         at a.svc:80, a.svc:81".to_owned(),
                ready: true
            }
        );
        follow.note_end(&listener(&json!({})));
        assert!(follow.last.is_empty());
    }

    #[test]
    fn what_is_not_ready_is_named_with_its_reason() {
        let (mut follow, _) = Follow::new();
        let passed = |name: &str, phase| Told {
            of: wanted(name),
            phase,
            line: "Applying      Programmed: it is written".to_owned(),
        };
        follow.note_pass(passed("a", Phase::Pending));
        follow.note_status(&listener(&status("True", 2)));
        follow.note_pass(passed("b", Phase::Pending));
        follow.note_pass(passed("b", Phase::Ready));
        let all = [wanted("a"), wanted("b"), wanted("c")];
        assert_eq!(
            follow.unready(&all),
            "d/b: Applying Programmed: it is written; d/c: nothing was seen of it"
        );
    }
}
