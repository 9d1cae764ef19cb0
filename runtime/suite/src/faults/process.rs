//! Runs a process behind faults: started, dropped where it crashes, started anew, suspended, doubled.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use kube::Client;
use tokio::time::{Instant, sleep_until};

use super::line::{Faults, Line};
use super::signal::Signal;

/// How long a process that crashed takes to be there again.
const RESTART: Duration = Duration::from_secs(1);

/// A process that starts, with the handles that it gets.
pub struct Process {
    /// To the server, through its line.
    pub client: Client,
    /// Line to the providers outside Kubernetes.
    pub line: Line,
    /// The run it belongs to; its wall clock is the one to use.
    pub faults: Faults,
    /// True if another process runs already.
    pub is_second: bool,
}

type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Cause that woke a step.
enum WakeReason {
    Signal(Signal),
    Ended,
    SecondEnded,
    Time,
}

/// The processes of a run.
struct Runs<'a, F> {
    faults: &'a Faults,
    server: &'a Client,
    start: F,
    main: Option<(Running, Line)>,
    starts_at: Option<Instant>,
    frozen_until: Option<Instant>,
    second: Option<(Running, Line, Instant)>,
}

impl Faults {
    /// Runs a process until it ends by itself; dropping this ends it as well.
    ///
    /// # Flow
    /// `start` makes it, once at first and once after every crash, and for every second one.
    pub async fn run<F, P>(&self, server: &Client, start: F)
    where
        F: Fn(Process) -> P,
        P: Future<Output = ()> + Send + 'static,
    {
        let mut runs = Runs {
            faults: self,
            server,
            start: |process| Box::pin(start(process)) as Running,
            main: None,
            starts_at: Some(Instant::now()),
            frozen_until: None,
            second: None,
        };
        while !runs.step().await {}
    }

    /// Returns the next request of the line.
    async fn signal(&self) -> Signal {
        poll_fn(|cx| {
            let mut state = self.state();
            match state.signals.pop_front() {
                Some(signal) => Poll::Ready(signal),
                None => {
                    state.runner = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

impl<F: Fn(Process) -> Running> Runs<'_, F> {
    /// Makes one step. Returns true if the process ended by itself.
    async fn step(&mut self) -> bool {
        let now = Instant::now();
        if self.starts_at.is_some_and(|at| at <= now) {
            self.starts_at = None;
            self.main = Some(self.started(false));
        }
        if self.frozen_until.is_some_and(|until| until <= now) {
            self.frozen_until = None;
        }
        if self.second.as_ref().is_some_and(|(_, _, end)| *end <= now) {
            self.end_second();
        }
        let times = [
            self.starts_at,
            self.frozen_until,
            self.second.as_ref().map(|s| s.2),
        ];
        let next = times.into_iter().flatten().min();
        let is_frozen = self.frozen_until.is_some();
        let (main, second) = (&mut self.main, &mut self.second);
        let woken = tokio::select! {
            biased;
            signal = self.faults.signal() => WakeReason::Signal(signal),
            () = running(main.as_mut().map(|m| &mut m.0)), if !is_frozen => WakeReason::Ended,
            () = running(second.as_mut().map(|s| &mut s.0)) => WakeReason::SecondEnded,
            () = sleep_until(next.unwrap_or(now)), if next.is_some() => WakeReason::Time,
        };
        match woken {
            WakeReason::Signal(signal) => self.obey(signal),
            WakeReason::Ended => return true,
            WakeReason::SecondEnded => self.end_second(),
            WakeReason::Time => {}
        }
        false
    }

    fn end_second(&mut self) {
        if let Some((_, line, _)) = self.second.take() {
            line.end();
        }
    }

    fn obey(&mut self, signal: Signal) {
        let now = Instant::now();
        match signal {
            Signal::Crash => {
                self.main = None;
                self.frozen_until = None;
                self.starts_at = Some(now + RESTART);
            }
            Signal::Freeze(time) => self.frozen_until = Some(now + time),
            Signal::Second(time) => {
                self.end_second();
                let (running, line) = self.started(true);
                self.second = Some((running, line, now + time));
            }
        }
    }

    fn started(&self, is_second: bool) -> (Running, Line) {
        let line = self.faults.line(!is_second);
        let process = Process {
            client: line.client(self.server),
            line: line.clone(),
            faults: self.faults.clone(),
            is_second,
        };
        line.record(0, "starts");
        ((self.start)(process), line)
    }
}

impl<F> Drop for Runs<'_, F> {
    fn drop(&mut self) {
        let lines = [
            self.main.as_ref().map(|m| &m.1),
            self.second.as_ref().map(|s| &s.1),
        ];
        lines.into_iter().flatten().for_each(Line::end);
    }
}

async fn running(process: Option<&mut Running>) {
    match process {
        Some(process) => process.await,
        None => std::future::pending().await,
    }
}
