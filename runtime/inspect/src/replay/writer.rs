//! Writer of trace files. It writes lines without the content of Secrets until the file is long
//! enough. Then it begins the next file, which is readable by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};

use jiff::Timestamp;
use lifecycle_runtime::lifecycle::Stored;
use lifecycle_runtime::lifecycle::observation::Slot;
use lifecycle_runtime::machine::ir::{Mode, Origin};
use serde_json::Value;

use crate::replay::error::Error;
use crate::replay::format::{Header, Line, LineContent, ObjectKey, Pass, Runs, fact};
use crate::replay::placeholders::{Placeholders, is_secret, without};
use crate::replay::queue::{Event, EventKind, Lost, NewVersion, Passed};

/// Placeholder for the message about a Secret that cannot be read or that is refused. The original
/// message is not repeated.
const UNSAID: &str = "left out: it is about a Secret";

/// A trace file that is written.
pub(crate) struct Writer {
    path: PathBuf,
    limit: u64,
    header: Header,
    file: BufWriter<File>,
    /// Bytes written since the file was opened, without its earlier content.
    written: u64,
    runs: Option<Runs>,
    /// Content of the caches, as far as it has been written.
    objects: BTreeMap<ObjectKey, Arc<Stored>>,
    placeholders: Placeholders,
}

impl Writer {
    /// Opens a file and appends to its content.
    pub(crate) fn open(path: PathBuf, limit: u64, header: Header) -> Result<Self, Error> {
        let open = |source| Error::Open {
            path: path.clone(),
            source,
        };
        let mut file = opened(&path).map_err(open)?;
        end_line(&mut file).map_err(open)?;
        let written = file.metadata().map_err(open)?.len();
        let mut writer = Self {
            file: BufWriter::new(file),
            limit,
            header,
            written,
            runs: None,
            objects: BTreeMap::new(),
            placeholders: Placeholders::default(),
            path,
        };
        let header = LineContent::Trace(writer.header.clone());
        let begun = writer.line(0, header).and_then(|()| writer.file.flush());
        begun.map_err(|source| Error::Open {
            path: writer.path.clone(),
            source,
        })?;
        Ok(writer)
    }

    /// Writes events until the senders are gone or a write fails.
    pub(crate) fn run(mut self, exit: &Receiver<Event>) {
        if let Err(error) = self.follow(exit) {
            let file = self.path.display();
            tracing::error!("nothing more is recorded, for {file} cannot be written: {error}");
        }
    }

    fn follow(&mut self, exit: &Receiver<Event>) -> io::Result<()> {
        loop {
            let event = match exit.try_recv() {
                Ok(event) => event,
                Err(TryRecvError::Disconnected) => return self.file.flush(),
                Err(TryRecvError::Empty) => {
                    self.file.flush()?;
                    match exit.recv() {
                        Ok(event) => event,
                        Err(_) => return Ok(()),
                    }
                }
            };
            self.take(event)?;
        }
    }

    fn take(&mut self, Event { ms, what }: Event) -> io::Result<()> {
        if self.written > self.limit {
            self.turn(ms)?;
        }
        match what {
            EventKind::Begins(runs) => {
                self.runs = Some(runs.clone());
                self.line(ms, LineContent::Runs(runs))
            }
            EventKind::Changed(place, now) => self.changed(ms, place, now),
            EventKind::Passed(passed) => {
                let pass = self.pass(&passed);
                self.line(ms, LineContent::Pass(pass))
            }
            EventKind::Sent(sent) => self.line(ms, LineContent::Sent(sent)),
            EventKind::Ended(ended) => self.line(ms, LineContent::Ended(ended)),
            EventKind::Lost(lost) => self.lost(ms, lost),
        }
    }

    fn lost(&mut self, ms: u64, lost: Lost) -> io::Result<()> {
        self.line(ms, LineContent::Lost(lost.count))?;
        let mut objects = lost.objects.into_iter();
        objects.try_for_each(|(place, now)| self.changed(ms, place, now))
    }

    fn changed(&mut self, ms: u64, place: ObjectKey, now: NewVersion) -> io::Result<()> {
        let Some(now) = now else {
            return match self.objects.remove(&place) {
                Some(_) => self.line(ms, LineContent::Gone(place)),
                // Two caches had it.
                None => Ok(()),
            };
        };
        let identity = |one: &Stored| (one.meta.uid.clone(), one.meta.resource_version.clone());
        let before = self.objects.insert(place, Arc::clone(&now));
        if before.is_some_and(|before| identity(&before) == identity(&now)) {
            return Ok(());
        }
        self.object(ms, &now)
    }

    fn object(&mut self, ms: u64, object: &Stored) -> io::Result<()> {
        let Some(raw) = object.raw.as_deref() else {
            return Ok(());
        };
        let shown = self.placeholders.without_secrets(raw);
        self.line(ms, LineContent::Object(shown))
    }

    fn pass(&mut self, passed: &Passed) -> Pass {
        let (ir, seen) = (passed.lifecycle, &*passed.observation);
        let vars = 0..ir.vars.len();
        let inputs = || ir.inputs.iter().enumerate();
        let secrets = self.secrets(passed);
        let says = vars.clone().filter_map(|var| {
            let said = seen.sentences[var].clone()?;
            let said = match self.is_about_secret(passed, var) {
                true => UNSAID.to_owned(),
                false => without(said, &secrets),
            };
            Some((fact(ir, var), said))
        });
        let polls = inputs().filter(|(_, input)| matches!(input.mode, Mode::Poll | Mode::Probe));
        let asked = polls.filter_map(|(number, input)| match seen.slot(number) {
            Slot::Plain(answer) => Some((input.name.to_owned(), answer.is_some())),
            Slot::Closed | Slot::Objects(_) | Slot::Recorded { .. } => None,
        });
        let clock = inputs().find(|(_, input)| input.mode == Mode::Clock);
        let now = clock.and_then(|(number, _)| match seen.slot(number) {
            Slot::Plain(Some(now)) => now.downcast_ref::<Timestamp>().map(ToString::to_string),
            Slot::Plain(None) | Slot::Closed | Slot::Objects(_) | Slot::Recorded { .. } => None,
        });
        let safe = |text: &String| match text.starts_with("Secret `") {
            true => UNSAID.to_owned(),
            false => without(text.clone(), &secrets),
        };
        let hidden = match passed.settled.is_empty() {
            true => BTreeSet::new(),
            false => self.uids_of_secrets(),
        };
        let settled = passed
            .settled
            .iter()
            .filter(|s| !hidden.contains(s.uid.as_str()));
        Pass {
            lifecycle: ir.path.to_owned(),
            object: passed.object.clone(),
            version: seen.subject().meta.resource_version.clone(),
            now,
            world: vars
                .map(|var| (fact(ir, var), ir.value(&seen.world, var).to_owned()))
                .collect(),
            says: says.collect(),
            answered: asked.collect(),
            state: passed.state.to_owned(),
            next: passed.next.to_owned(),
            does: passed.does.clone(),
            failure: passed.failure.as_ref().map(safe),
            ruled_out: passed.ruled_out.as_ref().map(safe),
            settled: settled.cloned().collect(),
        }
    }

    /// Returns the values in the Secrets that a reconcile observed, because its messages may repeat
    /// them.
    fn secrets(&mut self, passed: &Passed) -> Vec<(String, String)> {
        let inputs = 0..passed.lifecycle.inputs.len();
        let seen = inputs.flat_map(|input| passed.observation.objects(input));
        let bodies: Vec<&Value> = seen.filter_map(|object| object.raw.as_deref()).collect();
        bodies
            .into_iter()
            .flat_map(|body| self.placeholders.in_secret(body))
            .collect()
    }

    /// Returns true if a message is the answer of the API server to the write of a Secret.
    fn is_about_secret(&self, passed: &Passed, var: usize) -> bool {
        let ir = passed.lifecycle;
        match ir.vars[var].origin {
            Origin::Refused(effect) => {
                let targets = ir.of_objects(ir.effects[effect].target);
                let mut kinds = targets.into_iter().map(|input| ir.inputs[input].kind);
                kinds.any(|kind| kind.ends_with("Secret"))
            }
            Origin::Input(_) | Origin::Fact | Origin::Deleting | Origin::Claimed => false,
        }
    }

    /// Returns the uids of Secrets. A Secret's content can be guessed from its fingerprint.
    fn uids_of_secrets(&self) -> BTreeSet<&str> {
        let secrets = self.objects.values().filter(|object| {
            let raw = object.raw.as_deref();
            raw.is_some_and(is_secret)
        });
        secrets
            .filter_map(|secret| secret.meta.uid.as_deref())
            .collect()
    }

    /// Starts the next file, with the known state.
    fn turn(&mut self, ms: u64) -> io::Result<()> {
        self.file.flush()?;
        let mut before = self.path.clone().into_os_string();
        before.push(".1");
        fs::rename(&self.path, before)?;
        self.file = BufWriter::new(opened(&self.path)?);
        self.line(ms, LineContent::Trace(self.header.clone()))?;
        if let Some(runs) = self.runs.clone() {
            self.line(ms, LineContent::Runs(runs))?;
        }
        let objects: Vec<Arc<Stored>> = self.objects.values().cloned().collect();
        objects
            .iter()
            .try_for_each(|object| self.object(ms, object))?;
        self.written = 0;
        Ok(())
    }

    fn line(&mut self, ms: u64, what: LineContent) -> io::Result<()> {
        let mut line = serde_json::to_vec(&Line { ms, what })?;
        line.push(b'\n');
        self.written += u64::try_from(line.len()).unwrap_or_default();
        self.file.write_all(&line)
    }
}

fn opened(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
}

/// A process that was killed may have left half a line.
fn end_line(file: &mut File) -> io::Result<()> {
    if file.metadata()?.len() == 0 {
        return Ok(());
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    match last {
        [b'\n'] => Ok(()),
        _ => file.write_all(b"\n"),
    }
}
