//! Many runs, each in a runtime of its own on paused time, shared out among a few threads. Results come in the order of the work.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::Core;
use super::fork::Fork;
use super::moves::{Move, Schedule};
use super::run::{Ask, From, Ran, run};

/// Runs all of these; the first error counts.
pub(crate) fn run_all(core: &Arc<Core>, work: &[(Schedule, Ask)]) -> Result<Vec<Ran>, String> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<Ran, String>>>> =
        work.iter().map(|_| Mutex::new(None)).collect();
    thread::scope(|scope| {
        let workers = core.threads.min(work.len()).max(1);
        let threads = (0..workers).map(|_| {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some((schedule, ask)) = work.get(number) else {
                        break;
                    };
                    let ran = run_schedule(core, schedule, ask.clone());
                    let mut place = results[number]
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner);
                    *place = Some(ran);
                }
            })
        });
        let threads: Vec<_> = threads.collect();
        for worker in threads {
            if let Err(panic) = worker.join() {
                resume_unwind(panic);
            }
        }
    });
    let taken = results.into_iter().map(|place| {
        let done = place.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.unwrap_or_else(|| Err("a run was not done".to_owned()))
    });
    taken.collect()
}

/// Performs one run in a new runtime. Every task that the run started ends with the runtime.
pub(crate) fn run_schedule(core: &Arc<Core>, schedule: &Schedule, ask: Ask) -> Result<Ran, String> {
    let from = match ask.from {
        From::Longest => core.forks.longest(&schedule.moves),
        From::Usual if schedule.goes_on() => {
            let done = schedule.armed_at();
            let way = &schedule.moves[..done];
            let fork = core.forks.get_or_run(way, || go(core, way))?;
            (fork.as_ref().map_or(0, |_| done), fork)
        }
        From::Usual | From::Nothing => (0, None),
    };
    let mut builder = tokio::runtime::Builder::new_current_thread();
    if core.cluster.is_simulated() {
        builder.enable_time().start_paused(true);
    } else {
        builder.enable_all();
    }
    let runtime = builder
        .build()
        .map_err(|e| format!("a runtime cannot start: {e}"))?;
    runtime
        .block_on(run(core, schedule, ask, from))
        .map_err(|why| format!("{schedule}: {why}"))
}

/// The end of a way, as a run leaves it that does nothing else.
fn go(core: &Arc<Core>, way: &[Move]) -> Result<Option<Arc<Fork>>, String> {
    let ask = Ask {
        fork_only: true,
        ..Ask::default()
    };
    Ok(run_schedule(core, &Schedule::step(way.to_vec()), ask)?.fork)
}
