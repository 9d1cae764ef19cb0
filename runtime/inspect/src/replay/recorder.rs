//! Observer of an operator for a trace file. The loop calls it, so it only hands events on; a
//! thread of its own writes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use lifecycle_runtime::controller::{Move, Passed, Trace, TraceEvent, Written};
use lifecycle_runtime::lifecycle::{Kind, ObjectRef, Stored};
use lifecycle_runtime::machine::ir::Lifecycle;
use lifecycle_runtime::machine::policy::Decision;
use tokio::time::Instant;

use crate::replay::error::Error;
use crate::replay::format::{
    Declared, Ended, FORMAT, Header, Object, ObjectKey, Runs, Sent, Settled,
};
use crate::replay::format::{fingerprint, of_group};
use crate::replay::queue::{self, Event, EventKind, Queue};
use crate::replay::writer::Writer;

/// Number of events that may wait to be written.
const ROOM: usize = 8192;
/// Upper bound on the time that process exit waits for unwritten events.
const LONGEST: Duration = Duration::from_secs(2);

/// Content and target of a recording.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The file. It is made for its owner alone, and added to.
    pub file: PathBuf,
    /// Size in bytes after which the file becomes `.1`, in the place of the one before, and a new
    /// one begins. The initial content of the file does not count.
    pub limit: u64,
    /// The program that runs.
    pub program: String,
    /// Its version.
    pub version: String,
    /// Settings of its lifecycles: [`Header::settings`].
    pub settings: BTreeMap<String, String>,
}

/// Recorder that observes an operator and writes its observations and decisions into a file.
///
/// # Guarantees
/// The recorder never writes the content of Secrets or the seeds of minted values. The operator
/// never waits for the file, and no failure of the file stops the operator. Such a failure is
/// logged once. Dropping the recorder waits for the remaining lines, for two seconds at most.
pub struct Recorder {
    began: Instant,
    queue: Option<Queue>,
    ended: Mutex<Receiver<()>>,
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

impl Recorder {
    /// Begins a recording.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn begin(settings: Settings) -> Result<Self, Error> {
        let header = Header {
            format: FORMAT,
            program: settings.program,
            version: settings.version,
            began: Timestamp::now().to_string(),
            settings: settings.settings,
        };
        let writer = Writer::open(settings.file, settings.limit, header)?;
        let (queue, exit) = Queue::new(ROOM);
        let (end, ended) = channel();
        thread::Builder::new()
            .name("trace".to_owned())
            .spawn(move || {
                writer.run(&exit);
                let _nobody_waits = end.send(());
            })
            .map_err(Error::Thread)?;
        Ok(Self {
            began: Instant::now(),
            queue: Some(queue),
            ended: Mutex::new(ended),
        })
    }

    fn record(&self, at: Instant, what: EventKind) {
        let since = at.saturating_duration_since(self.began).as_millis();
        let ms = u64::try_from(since).unwrap_or(u64::MAX);
        if let Some(queue) = &self.queue {
            queue.push(Event { ms, what });
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if let Some(queue) = self.queue.take() {
            queue.settle(u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX));
        }
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let _late = ended.recv_timeout(LONGEST);
    }
}

impl Trace for Recorder {
    fn saw(&self, moment: &TraceEvent<'_>) {
        let now = Instant::now();
        match moment {
            TraceEvent::Passed(passed) => {
                let noted = Box::new(noted(passed));
                self.record(passed.at, EventKind::Passed(noted));
            }
            TraceEvent::Sent { object, what } => {
                let object = object.map(Object::from_ref);
                let what = written(*what).to_owned();
                self.record(now, EventKind::Sent(Sent { object, what }));
            }
            TraceEvent::Ended {
                object,
                what,
                how,
                target,
                version,
            } => {
                let ended = Ended {
                    object: object.map(Object::from_ref),
                    what: written(*what).to_owned(),
                    how: (*how).to_owned(),
                    target: target.map(Object::from_ref),
                    version: version.map(str::to_owned),
                };
                self.record(now, EventKind::Ended(ended));
            }
        }
    }

    fn wants_objects(&self) -> bool {
        true
    }

    fn begins(&self, lifecycles: &[&'static Lifecycle], kinds: &[&Kind]) {
        let declared = lifecycles.iter().map(|ir| Declared {
            path: ir.path.to_owned(),
            fingerprint: fingerprint(ir),
        });
        let runs = Runs {
            lifecycles: declared.collect(),
            kinds: kinds.iter().map(|kind| of_group(kind)).collect(),
        };
        self.record(Instant::now(), EventKind::Begins(runs));
    }

    fn changed(&self, kind: &Kind, object: &ObjectRef, now: Option<&Arc<Stored>>) {
        let place = ObjectKey {
            kind: of_group(kind),
            namespace: object.namespace.clone(),
            name: object.name.clone(),
        };
        self.record(Instant::now(), EventKind::Changed(place, now.cloned()));
    }
}

fn noted(passed: &Passed<'_>) -> queue::Passed {
    let ir = passed.lifecycle;
    let settled = passed.settled.iter().map(|kept| Settled {
        namespace: kept.namespace.map(str::to_owned),
        name: kept.name.to_owned(),
        uid: kept.uid.to_owned(),
        desired: kept.desired,
        live: kept.live,
    });
    queue::Passed {
        lifecycle: ir,
        object: Object::from_ref(passed.object),
        observation: Arc::clone(passed.observation),
        state: passed.state(),
        next: next(ir, passed.next),
        does: describe_move(ir, passed.does),
        failure: passed.failure.clone(),
        ruled_out: passed.ruled_out.clone(),
        settled: settled.collect(),
    }
}

/// Returns the next action as one word.
pub(crate) fn next(ir: &Lifecycle, next: Decision) -> &'static str {
    match next {
        Decision::Claim => "claim",
        Decision::Release => "release",
        Decision::Rest => "rest",
        Decision::Effect(effect) => ir.effects[effect].name,
    }
}

fn describe_move(ir: &Lifecycle, does: Move) -> String {
    match does {
        Move::Write(Written::Effect(effect) | Written::Call(effect)) => {
            format!("write: {}", ir.effects[effect].name)
        }
        Move::Write(what) => format!("write: {}", written(what)),
        Move::Wait(_, why) => format!("wait: {why:?}"),
        Move::Rest => "rest".to_owned(),
    }
}

fn written(what: Written) -> &'static str {
    match what {
        Written::Effect(_) => "effect",
        Written::Call(_) => "call",
        Written::Claim => "claim",
        Written::Release => "release",
        Written::Leftover => "leftover",
        Written::Status => "status",
        Written::Event => "event",
    }
}
