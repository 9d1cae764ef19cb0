//! A test harness that reports tests that cannot run here as ignored, with the reason, and never as
//! passed. This module knows the requirements of tests on a machine, but not the tested code.

mod gate;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::env;
use std::future::Future;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use libtest_mimic::{Arguments, Completion, Failed, Trial};

use crate::{binaries, cluster, promtool, proton};
use gate::{Gate, Load};

pub use crate::eventually::{Deadline, eventually, run_within};

/// Variable that lists the requirements that must not be ignored, separated by commas:
/// `LIFECYCLE_REQUIRE=binaries,root`.
const REQUIRE: &str = "LIFECYCLE_REQUIRE";

/// A test that runs longer has hung.
const LIMIT: Duration = Duration::from_secs(300);

/// Requirement of a test on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// etcd, kube-apiserver and kubectl.
    Binaries,
    /// kube-controller-manager as well, for garbage collection and the end of namespaces.
    ControllerManager,
    /// csi-sanity.
    CsiSanity,
    /// kstatus.
    Kstatus,
    /// helm.
    Helm,
    /// A program of another project, by its name, and the request to use such programs.
    Other(&'static str),
    /// To be root, for network and mount namespaces.
    Root,
    /// Everything that a cluster with nodes needs: root, the programs that we build, and some
    /// packages of the system.
    Nodes,
    /// Debian's interpreter of Python with the AMQP library `proton`.
    Proton,
    /// The program `promtool` of Prometheus.
    Promtool,
}

impl Need {
    /// The word in `LIFECYCLE_REQUIRE`.
    fn keyword(self) -> &'static str {
        match self {
            Self::Binaries
            | Self::ControllerManager
            | Self::CsiSanity
            | Self::Kstatus
            | Self::Helm => "binaries",
            Self::Other(_) => "others",
            Self::Root => "root",
            Self::Nodes => "nodes",
            Self::Proton => "proton",
            Self::Promtool => "promtool",
        }
    }

    /// Why the machine lacks it, if it does.
    fn absence(self) -> Option<String> {
        match self {
            Self::Binaries => binaries::locate().err().map(|missing| missing.to_string()),
            Self::ControllerManager => binaries::locate()
                .and_then(|found| found.kube_controller_manager())
                .err()
                .map(|missing| missing.to_string()),
            Self::CsiSanity => binaries::csi_sanity()
                .err()
                .map(|missing| missing.to_string()),
            Self::Kstatus => binaries::kstatus().err().map(|missing| missing.to_string()),
            Self::Helm => binaries::helm().err().map(|missing| missing.to_string()),
            Self::Other(name) => binaries::other(name)
                .err()
                .map(|missing| missing.to_string()),
            Self::Root => (!rustix::process::geteuid().is_root())
                .then(|| "it needs namespaces and mounts; run it as root".to_owned()),
            Self::Nodes => cluster::absence(),
            Self::Proton => proton::absence(),
            Self::Promtool => promtool::absence(),
        }
    }
}

type Run = Box<dyn FnOnce() -> Result<()> + Send>;

/// One test: its name, its requirements, its load on the machine, and its function.
pub struct Case {
    name: String,
    needs: &'static [Need],
    load: Load,
    run: Run,
}

impl Case {
    /// The same test under a name that begins with that of its suite: `suite::name`.
    #[must_use]
    pub fn in_suite(mut self, suite: &str) -> Self {
        self.name = format!("{suite}::{}", self.name);
        self
    }

    /// The same test, as one that keeps a core busy.
    #[must_use]
    pub fn calculates(mut self) -> Self {
        self.load = Load::Calculates;
        self
    }
}

/// Names tests by their functions: `named![case(BINARIES): first, second]`.
#[macro_export]
macro_rules! named {
    ($kind:ident(): $($name:ident),+ $(,)?) => {
        vec![$($crate::harness::$kind(stringify!($name), $name)),+]
    };
    ($kind:ident($needs:expr): $($name:ident),+ $(,)?) => {
        vec![$($crate::harness::$kind(stringify!($name), $needs, $name)),+]
    };
}

/// A test that runs on a multi-threaded runtime of its own and fails when it returns an error, panics, or takes over five minutes
/// of core time.
pub fn case<F, R>(name: &str, needs: &'static [Need], run: F) -> Case
where
    F: FnOnce() -> R + Send + 'static,
    R: Future<Output = Result<()>>,
{
    case_within(name, needs, LIMIT, run)
}

/// As `case`, with a limit of core time of its own.
pub fn case_within<F, R>(name: &str, needs: &'static [Need], limit: Duration, run: F) -> Case
where
    F: FnOnce() -> R + Send + 'static,
    R: Future<Output = Result<()>>,
{
    let run = Box::new(move || {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        block_on(builder.worker_threads(2), limit, run)
    });
    waits(name, needs, run)
}

/// A test as `#[tokio::test]` has it: its tasks take turns on one thread. It fails when it panics or takes over five minutes of core time.
pub fn single_threaded<F, R>(name: &str, needs: &'static [Need], run: F) -> Case
where
    F: FnOnce() -> R + Send + 'static,
    R: Future<Output = ()>,
{
    let run = Box::new(move || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        block_on(&mut builder, LIMIT, || async {
            run().await;
            Ok(())
        })
    });
    waits(name, needs, run)
}

fn block_on<R>(
    builder: &mut tokio::runtime::Builder,
    limit: Duration,
    run: impl FnOnce() -> R,
) -> Result<()>
where
    R: Future<Output = Result<()>>,
{
    let runtime = builder.enable_all().build();
    let runtime = runtime.context("cannot start a runtime")?;
    match runtime.block_on(run_within(limit, async { run().await })) {
        Some(result) => result,
        None => bail!("it did not end within {} s of core time", limit.as_secs()),
    }
}

/// A test that waits for processes without a runtime, and fails when it panics.
pub fn blocking(name: &str, needs: &'static [Need], run: impl FnOnce() + Send + 'static) -> Case {
    let run = Box::new(move || {
        run();
        Ok(())
    });
    waits(name, needs, run)
}

/// A test that only calculates, and fails when it panics.
pub fn calculation(name: &str, run: impl FnOnce() + Send + 'static) -> Case {
    blocking(name, &[], run).calculates()
}

/// A test on paused time, which fails when it panics.
pub fn paused<F, R>(name: &str, run: F) -> Case
where
    F: FnOnce() -> R + Send + 'static,
    R: Future<Output = ()>,
{
    let run = Box::new(move || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().start_paused(true).build();
        runtime.context("cannot start a runtime")?.block_on(run());
        Ok(())
    });
    waits(name, &[], run).calculates()
}

fn waits(name: &str, needs: &'static [Need], run: Run) -> Case {
    Case {
        name: name.to_owned(),
        needs,
        load: Load::Waits,
        run,
    }
}

/// Runs a test program as libtest would, its command line included, but with tests that wait beside tests that calculate.
/// To be returned from `main`.
pub fn run(cases: Vec<Case>) -> ExitCode {
    let required = match required(env::var(REQUIRE).ok().as_deref()) {
        Ok(required) => required,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    note_panics();
    let mut arguments = Arguments::from_args();
    let gate = Gate::new(arguments.test_threads);
    // Each test has a thread, and the gate decides when it begins.
    arguments.test_threads = Some(cases.len().max(1));
    let trials = cases
        .into_iter()
        .map(|case| trial(case, &required, Need::absence, &gate));
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// Behaves as `run`, for several suites. The name of the suite distinguishes their tests:
/// `suite::test`.
pub fn run_suites<const N: usize>(suites: [(&str, Vec<Case>); N]) -> ExitCode {
    let named = |(name, cases): (&str, Vec<Case>)| {
        let cases = cases.into_iter();
        cases.map(|case| case.in_suite(name)).collect::<Vec<_>>()
    };
    run(suites.into_iter().flat_map(named).collect())
}

thread_local! {
    /// Location and message of the last panic of a thread.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps the place of each panic, so that it stands beside the name of the test that failed and not only somewhere between the lines of others.
fn note_panics() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let place = info.location().map(ToString::to_string);
        let message = info.payload_as_str().unwrap_or("no message");
        PANIC.set(Some(format!(
            "panicked at {}:\n{message}",
            place.unwrap_or_default()
        )));
        print(info);
    }));
}

fn required(value: Option<&str>) -> Result<BTreeSet<&'static str>> {
    let words = value.unwrap_or_default().split(',').map(str::trim);
    words
        .filter(|word| !word.is_empty())
        .map(|word| {
            let known = [
                Need::Binaries,
                Need::Other(""),
                Need::Root,
                Need::Nodes,
                Need::Proton,
                Need::Promtool,
            ];
            let known = known.map(Need::keyword);
            let found = known.into_iter().find(|known| *known == word);
            found.with_context(|| {
                format!("{REQUIRE} names `{word}`; it knows {}", known.join(" and "))
            })
        })
        .collect()
}

fn trial(
    case: Case,
    required: &BTreeSet<&'static str>,
    absence: fn(Need) -> Option<String>,
    gate: &Arc<Gate>,
) -> Trial {
    let must: Vec<Need> = case
        .needs
        .iter()
        .filter(|need| required.contains(need.keyword()))
        .copied()
        .collect();
    let gate = Arc::clone(gate);
    Trial::ignorable_test(case.name, move || {
        let _turn = gate.enter(case.load);
        outcome(case.needs, &must, absence, case.run)
    })
}

fn outcome(
    needs: &[Need],
    must: &[Need],
    absence: fn(Need) -> Option<String>,
    run: Run,
) -> Result<Completion, Failed> {
    let absent = |needs: &[Need]| needs.iter().find_map(|need| absence(*need));
    if let Some(reason) = absent(must) {
        return Err(format!("{REQUIRE} forbids to ignore it, but {reason}").into());
    }
    if let Some(reason) = absent(needs) {
        return Ok(Completion::ignored_with(reason));
    }
    match panic::catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => Ok(Completion::Completed),
        Ok(Err(error)) => Err(format!("{error:#}").into()),
        Err(_) => {
            let said = PANIC.take();
            Err(said.unwrap_or_else(|| "it panicked".to_owned()).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_binaries(need: Need) -> Option<String> {
        (need == Need::Binaries).then(|| "they are not built".to_owned())
    }

    fn passes() -> Run {
        Box::new(|| Ok(()))
    }

    #[test]
    fn a_need_that_is_absent_ignores_with_the_reason() {
        let ignored = outcome(&[Need::Root, Need::Binaries], &[], no_binaries, passes());
        let Ok(Completion::Ignored { reason }) = ignored else {
            panic!("not ignored")
        };
        assert_eq!(reason.as_deref(), Some("they are not built"));
    }

    #[test]
    fn a_need_that_is_required_and_absent_fails() {
        let failed = outcome(&[Need::Binaries], &[Need::Binaries], no_binaries, passes());
        let message = failed
            .err()
            .and_then(|failed| failed.message().map(str::to_owned));
        assert!(message.unwrap().contains("they are not built"));
    }

    #[test]
    fn a_need_that_is_met_runs_the_test() {
        let ran = outcome(&[Need::Root], &[Need::Root], no_binaries, passes());
        assert!(matches!(ran, Ok(Completion::Completed)));
        let error: Run = Box::new(|| bail!("no"));
        assert!(outcome(&[Need::Root], &[], no_binaries, error).is_err());
    }

    #[test]
    fn a_test_that_panics_fails_with_the_place_and_the_message() {
        note_panics();
        let panics: Run = Box::new(|| panic!("it is {}", "late"));
        let failed = outcome(&[], &[], no_binaries, panics).err();
        let said = failed.and_then(|failed| failed.message().map(str::to_owned));
        let said = said.unwrap();
        assert!(
            said.starts_with("panicked at tests/src/harness.rs:"),
            "{said}"
        );
        assert!(said.ends_with("\nit is late"), "{said}");
    }

    #[test]
    fn required_words_are_known_or_refused() {
        assert_eq!(
            required(Some("root, proton")).unwrap(),
            BTreeSet::from(["proton", "root"])
        );
        assert!(required(None).unwrap().is_empty());
        assert!(
            required(Some("rot"))
                .unwrap_err()
                .to_string()
                .contains("rot")
        );
    }
}
