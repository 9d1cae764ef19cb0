//! The log of a run: a line for each write and each change of a state, and none that repeats itself.

use std::fmt::Debug;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Level, Metadata, Subscriber};

use super::*;

const LITTLE: Duration = Duration::from_secs(10);

/// The lines that are logged as information, or as something worse.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn take(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    /// Those about an object.
    fn lines_for(&self, object: &str) -> Vec<String> {
        let mut lines = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        lines.retain(|line| line.contains(object));
        lines
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::INFO
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push(message.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn each_write_and_each_change_of_a_state_is_one_line() {
    let lines = Lines::default();
    let _logs = tracing::subscriber::set_default(lines.clone());
    let object = "Thing `ns/t`";
    let wrote = format!("{object}: apply_made wrote ConfigMap `ns/t`");
    let went = format!("{object} went from Making to Ready");
    // A test beside this one may register a place that logs while nobody listens. It is off until
    // the next look at all places.
    for _ in 0..100 {
        tracing::callsite::rebuild_interest_cache();
        lines.take();
        Sim::with_thing(1, |_| Answer::Do).run(LITTLE).await;
        if lines.lines_for(object).len() == 2 {
            break;
        }
    }
    lines.take();
    let mut sim = Sim::with_thing(1, |_| Answer::Do);
    sim.run(LITTLE).await;
    assert_eq!(lines.lines_for(object), [wrote, went]);
    let subject = sim.controller.memories.keys().next().cloned();
    let subject = subject.expect("the object is remembered");
    for _ in 0..3 {
        sim.controller.log_transition(&subject, ("Ready", "Making"));
        // This repeats the transition that was logged above.
        sim.controller.log_transition(&subject, ("Making", "Ready"));
    }
    let all = lines.lines_for(object);
    assert_eq!(all[2..], [format!("{object} went from Ready to Making")]);
}
