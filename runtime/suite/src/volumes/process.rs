//! Processes of a driver on lines that faults reach. Every probe, mutation and request of a process
//! goes through its line.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kube::Client;
use tokio::time::sleep;

use super::fixture::Start;
use crate::faults::{Faults, Line};
use crate::granted::Granted;
use lifecycle_csi::in_process::{
    ClassifiedVolume, CsiRequest, CsiResponse, InProcessDriver, SeenVolume,
};
use lifecycle_csi::{ServedVolume, Volumes};
use lifecycle_runtime::lifecycle::call::{Called, Reply};
use lifecycle_runtime::lifecycle::{
    CallError, Calling, Machine, MachineWrapper, Observation, Once, Polling,
};
use lifecycle_runtime::machine::ir::{Call, Code, Rpc};
use lifecycle_runtime::shutdown::{Shutdown, Trigger};

/// Interval at which a caller checks that its process is still running.
const CHECK_EVERY: Duration = Duration::from_millis(50);

/// Effects that ran outside the API server, by lifecycle and name.
pub(super) type EffectLog = Arc<Mutex<Vec<(&'static str, &'static str)>>>;

/// A lifecycle whose probes and mutations pass through a line.
struct FaultyMachine {
    inner: Arc<dyn Machine>,
    line: Line,
    effects: EffectLog,
}

/// All processes of a driver. The next caller restarts a crashed process.
pub(super) struct Processes<'a> {
    start: &'a Start,
    folder: &'a Path,
    server: Client,
    faults: Faults,
    effects: EffectLog,
    running: Mutex<Vec<Arc<Process>>>,
    /// Requests that each process may send to the API server.
    granted: Vec<Arc<Granted>>,
    /// The same lifecycles, for questions that nothing disturbs.
    plain: Vec<InProcessDriver>,
    _trigger: Trigger,
    shutdown: Shutdown,
}

struct Process {
    driver: InProcessDriver,
    line: Line,
}

/// How a call ended.
pub(super) enum CallOutcome {
    Done(CsiResponse),
    Refused(Code, String),
    /// The process is gone.
    Crashed,
}

impl<'a> Processes<'a> {
    pub(super) fn new(
        (start, folder): (&'a Start, &'a Path),
        server: Client,
        faults: Faults,
        effects: EffectLog,
    ) -> Result<Self, String> {
        let (trigger, shutdown) = Shutdown::pair();
        let all = Self {
            start,
            folder,
            faults,
            effects,
            running: Mutex::new(Vec::new()),
            granted: start(folder).into_iter().map(granted).collect(),
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
        let behind_faults = |volume: ServedVolume| ServedVolume {
            machine: Arc::new(FaultyMachine {
                inner: volume.machine,
                line: line.clone(),
                effects: Arc::clone(&self.effects),
            }),
            ..volume
        };
        let served = operators.swap_remove(number);
        let providers = served.providers();
        let volumes = served
            .into_served()
            .into_iter()
            .map(behind_faults)
            .collect();
        let client = self.granted[number].client(&line.client(&self.server));
        let started = (1, &self.shutdown);
        let made = InProcessDriver::with_providers(volumes, Some(&client), started, &providers);
        let driver = made.map_err(|error| error.to_string())?;
        let driver = driver.watching(&client, 1);
        Ok(Arc::new(Process { driver, line }))
    }

    /// Returns the requests of processes to the API server that no right grants.
    pub(super) fn beyond_rights(&self) -> Vec<String> {
        let all = self.granted.iter().flat_map(|one| one.beyond());
        all.collect()
    }

    /// The process that offers a call.
    fn serving(&self, rpc: Rpc) -> Option<Arc<Process>> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let found = running
            .iter()
            .position(|p| p.driver.declared(rpc).is_some());
        let number = found?;
        if running[number].line.is_dead() {
            // It started once, and so it does again.
            running[number] = self.started(number).ok()?;
        }
        Some(Arc::clone(&running[number]))
    }

    /// Classifies a volume before a call about it, by the process that would serve the call.
    pub(super) async fn classify(&self, request: CsiRequest) -> Option<ClassifiedVolume> {
        let mut plain = self.plain.iter();
        let plain = plain.find(|driver| driver.declared(request.rpc()).is_some())?;
        plain.classify(request).await
    }

    /// Observes a volume as a call about it would, through a process without faults.
    pub(super) async fn observe(&self, request: CsiRequest) -> Option<SeenVolume> {
        let mut plain = self.plain.iter();
        let plain = plain.find(|driver| driver.declared(request.rpc()).is_some())?;
        plain.observe(request).await
    }

    pub(super) fn declared(&self, rpc: Rpc) -> Option<&'static Call> {
        self.serving(rpc)?.driver.declared(rpc)
    }

    pub(super) async fn call(&self, request: CsiRequest, limit: Duration) -> CallOutcome {
        let Some(process) = self.serving(request.rpc()) else {
            let message = format!("no process offers {:?}", request.rpc());
            return CallOutcome::Refused(Code::Unimplemented, message);
        };
        tokio::select! {
            biased;
            answered = process.driver.call(request, limit) => match answered {
                Ok(response) => CallOutcome::Done(response),
                Err((code, message)) => CallOutcome::Refused(code, message),
            },
            () = gone(&process.line) => CallOutcome::Crashed,
        }
    }
}

fn granted(served: Volumes) -> Arc<Granted> {
    let volumes = served.into_served();
    let watched: Vec<_> = volumes
        .iter()
        .flat_map(ServedVolume::always_watched)
        .collect();
    let machines = volumes.iter().map(|volume| &*volume.machine);
    Arc::new(Granted::of_all(machines, &watched))
}

fn plain(
    start: &Start,
    folder: &Path,
    server: &Client,
    shutdown: &Shutdown,
) -> Result<Vec<InProcessDriver>, String> {
    let plain = |served: Volumes| {
        let (providers, started) = (served.providers(), (1, shutdown));
        let volumes = served.into_served();
        let made = InProcessDriver::with_providers(volumes, Some(server), started, &providers);
        made.map_err(|error| error.to_string())
    };
    start(folder).into_iter().map(plain).collect()
}

async fn gone(line: &Line) {
    while !line.is_dead() {
        sleep(CHECK_EVERY).await;
    }
}

impl FaultyMachine {
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
    CallError::Failed("it was called where it has no answer".to_owned())
}

impl MachineWrapper for FaultyMachine {
    fn inner(&self) -> &dyn Machine {
        &*self.inner
    }

    fn poll<'a>(&'a self, observation: &'a Observation, input: usize) -> Option<Polling<'a>> {
        let what = self.input(input);
        Some(Box::pin(async move {
            let asked = async {
                match self.inner.poll(observation, input) {
                    Some(polling) => polling.await,
                    None => Err(impossible()),
                }
            };
            let describe = |reply: &Result<Reply, CallError>| match reply {
                Ok(_) => "answered".to_owned(),
                Err(error) => error.to_string(),
            };
            self.line.carry(&what, false, asked, describe).await
        }))
    }

    fn call<'a>(
        &'a self,
        observation: &'a Observation,
        effect: usize,
        once: Once<'a>,
    ) -> Option<Calling<'a>> {
        let what = self.effect(effect);
        Some(Box::pin(async move {
            let called = async {
                let done = match self.inner.call(observation, effect, once) {
                    Some(calling) => calling.await,
                    None => Err(impossible()),
                };
                let ir = self.inner.ir();
                let mut all = self.effects.lock().unwrap_or_else(PoisonError::into_inner);
                all.push((ir.name, ir.effects[effect].name));
                done
            };
            let describe = |done: &Result<Called, CallError>| format!("{done:?}");
            self.line.carry(&what, true, called, describe).await
        }))
    }
}
