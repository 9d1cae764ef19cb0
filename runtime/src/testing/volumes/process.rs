//! The processes of a driver on lines that faults reach: every probe, every mutation and every request of each passes through its line.

use std::any::Any;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kube::Client;
use tokio::time::sleep;

use super::Start;
use crate::csi::Offered;
use crate::csi::direct::{Answered, Ask, Direct, Stand};
use crate::lifecycle::call::{Called, Reply};
use crate::lifecycle::{
    Answer, Board, Built, CallError, Calling, CreatedVolume, Kind, Look, Machine, Once, Polling,
    Stored,
};
use crate::machine::ir::{Call, Code, Lifecycle, Rpc};
use crate::operator::Operator;
use crate::shutdown::{Shutdown, Trigger};
use crate::testing::faults::{Faults, Line};

/// How often it is looked whether a process is still there.
const LOOK: Duration = Duration::from_millis(50);

/// The effects that were carried out, by lifecycle and name.
pub(super) type Done = Arc<Mutex<Vec<(&'static str, &'static str)>>>;

/// A lifecycle whose probes and mutations pass through a line.
struct Tapped {
    inner: Arc<dyn Machine>,
    line: Line,
    done: Done,
}

/// All processes of a driver; one that crashes is started anew by whoever asks next.
pub(super) struct Processes<'a> {
    start: &'a Start,
    folder: &'a Path,
    server: Client,
    faults: Faults,
    done: Done,
    running: Mutex<Vec<Arc<Process>>>,
    /// The same lifecycles, for questions that nothing disturbs.
    plain: Vec<Direct>,
    _trigger: Trigger,
    shutdown: Shutdown,
}

struct Process {
    direct: Direct,
    line: Line,
}

/// How asking ended.
pub(super) enum Outcome {
    Done(Answered),
    Refused(Code, String),
    /// The process is gone.
    Crashed,
}

impl<'a> Processes<'a> {
    pub(super) fn new(
        (start, folder): (&'a Start, &'a Path),
        server: Client,
        faults: Faults,
        done: Done,
    ) -> Result<Self, String> {
        let (trigger, shutdown) = Shutdown::pair();
        let all = Self {
            start,
            folder,
            faults,
            done,
            running: Mutex::new(Vec::new()),
            plain: plain(start, folder, &server, &shutdown)?,
            server,
            _trigger: trigger,
            shutdown,
        };
        let count = all.plain.len();
        let started = (0..count).map(|number| all.started(number));
        let started = started.collect::<Result<Vec<_>, _>>()?;
        *all.running.lock().unwrap_or_else(PoisonError::into_inner) = started;
        Ok(all)
    }

    fn started(&self, number: usize) -> Result<Arc<Process>, String> {
        let mut operators = (self.start)(self.folder);
        let line = self.faults.line(true);
        let tapped = |(inner, naming, driver): Offered| {
            let (line, done) = (line.clone(), Arc::clone(&self.done));
            let machine: Arc<dyn Machine> = Arc::new(Tapped { inner, line, done });
            (machine, naming, driver)
        };
        let offered = operators.swap_remove(number).into_offered();
        let offered = offered.into_iter().map(tapped).collect();
        let client = line.client(&self.server);
        let made = Direct::new(offered, Some(&client), (1, &self.shutdown));
        let direct = made.map_err(|error| error.to_string())?;
        let direct = direct.watching(&client, 1);
        Ok(Arc::new(Process { direct, line }))
    }

    /// The process that offers a call.
    fn serving(&self, rpc: Rpc) -> Option<Arc<Process>> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let found = running
            .iter()
            .position(|p| p.direct.declares(rpc).is_some());
        let number = found?;
        if running[number].line.is_dead() {
            // It started once, and so it does again.
            running[number] = self.started(number).ok()?;
        }
        Some(Arc::clone(&running[number]))
    }

    /// How a volume stands before a call about it, by whoever would serve the call.
    pub(super) async fn stand(&self, ask: Ask) -> Option<Stand> {
        let mut plain = self.plain.iter();
        let plain = plain.find(|direct| direct.declares(ask.rpc()).is_some())?;
        plain.stand(ask).await
    }

    pub(super) fn declares(&self, rpc: Rpc) -> Option<&'static Call> {
        self.serving(rpc)?.direct.declares(rpc)
    }

    pub(super) async fn ask(&self, ask: Ask, limit: Duration) -> Outcome {
        let Some(process) = self.serving(ask.rpc()) else {
            let said = format!("no process offers {:?}", ask.rpc());
            return Outcome::Refused(Code::Unimplemented, said);
        };
        tokio::select! {
            biased;
            answered = process.direct.ask(ask, limit) => match answered {
                Ok(answered) => Outcome::Done(answered),
                Err((code, said)) => Outcome::Refused(code, said),
            },
            () = gone(&process.line) => Outcome::Crashed,
        }
    }
}

fn plain(
    start: &Start,
    folder: &Path,
    server: &Client,
    shutdown: &Shutdown,
) -> Result<Vec<Direct>, String> {
    let plain = |operator: Operator| {
        let made = Direct::new(operator.into_offered(), Some(server), (1, shutdown));
        made.map_err(|error| error.to_string())
    };
    start(folder).into_iter().map(plain).collect()
}

async fn gone(line: &Line) {
    while !line.is_dead() {
        sleep(LOOK).await;
    }
}

impl Tapped {
    fn input(&self, input: usize) -> String {
        let ir = self.inner.ir();
        format!("{} probes {}", ir.name, ir.inputs[input].name)
    }

    fn effect(&self, effect: usize) -> String {
        let ir = self.inner.ir();
        format!("{} runs {}", ir.name, ir.effects[effect].name)
    }
}

fn impossible() -> CallError {
    CallError::Failed("it was asked where it has no answer".to_owned())
}

impl Machine for Tapped {
    fn ir(&self) -> &'static Lifecycle {
        self.inner.ir()
    }
    fn kind(&self, input: usize) -> Option<Kind> {
        self.inner.kind(input)
    }
    fn look(&self, board: &Board, input: usize) -> Option<Look> {
        self.inner.look(board, input)
    }
    fn theirs(&self, input: usize, object: &Stored) -> Option<String> {
        self.inner.theirs(input, object)
    }
    fn value(&self, board: &Board, value: usize) -> Option<Arc<dyn Any + Send + Sync>> {
        self.inner.value(board, value)
    }
    fn fact(&self, board: &Board, var: usize) -> Option<Answer> {
        self.inner.fact(board, var)
    }
    fn build(&self, board: &Board, effect: usize) -> Option<Built> {
        self.inner.build(board, effect)
    }
    fn field(&self, board: &Board, field: usize) -> Option<serde_json::Value> {
        self.inner.field(board, field)
    }
    fn key(&self, board: &Board, effect: usize) -> Option<String> {
        self.inner.key(board, effect)
    }
    fn created(&self, board: &Board) -> Option<CreatedVolume> {
        self.inner.created(board)
    }

    fn poll<'a>(&'a self, board: &'a Board, input: usize) -> Option<Polling<'a>> {
        let what = self.input(input);
        Some(Box::pin(async move {
            let asked = async {
                match self.inner.poll(board, input) {
                    Some(polling) => polling.await,
                    None => Err(impossible()),
                }
            };
            let said = |reply: &Result<Reply, CallError>| match reply {
                Ok(_) => "answered".to_owned(),
                Err(error) => error.to_string(),
            };
            self.line.carry(&what, false, asked, said).await
        }))
    }

    fn call<'a>(&'a self, board: &'a Board, effect: usize, once: Once<'a>) -> Option<Calling<'a>> {
        let what = self.effect(effect);
        Some(Box::pin(async move {
            let called = async {
                let done = match self.inner.call(board, effect, once) {
                    Some(calling) => calling.await,
                    None => Err(impossible()),
                };
                let ir = self.inner.ir();
                let mut all = self.done.lock().unwrap_or_else(PoisonError::into_inner);
                all.push((ir.name, ir.effects[effect].name));
                done
            };
            let said = |done: &Result<Called, CallError>| format!("{done:?}");
            self.line.carry(&what, true, called, said).await
        }))
    }
}
