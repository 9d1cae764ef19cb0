//! Random volumes without findings, run by the driver that ships and checked against their meaning.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use lifecycle_csi::{Driver, Plugin, Volumes};
use lifecycle_oracle::random::{draw_sound_volume, draw_volume};
use lifecycle_random::volume::objects::Objects;
use lifecycle_random::volume::prepared::{Prepared, prepare};
use lifecycle_random::volume::run::{Ran, run};
use lifecycle_random::volume::seeded::SeededCall;
use lifecycle_tests::mistakes::table::between;
use lifecycle_tests::suites::wrapped::Wrapped;
use lifecycle_tests::volumes::disk::Disk;
use lifecycle_tests::volumes::suites::directory_of;
use lifecycle_tests::volumes::{NAME, NODE, Places, mount, provisioning};

use crate::number_from;

/// How many calls are made before everything is taken back.
const CALLS: usize = 12;

/// Returns the volume with this id, if the checker finds nothing in it. One in four is drawn
/// without restrictions.
fn volume(number: u64, seeded: Option<SeededCall>) -> Option<Prepared> {
    if number.is_multiple_of(4) {
        return prepare(&draw_volume(number), false, seeded);
    }
    prepare(&draw_sound_volume(number), true, seeded)
}

/// Totals over many runs.
#[derive(Debug, Default)]
struct Totals {
    volumes: usize,
    calls: usize,
    steps: usize,
    moves: usize,
    crossed: usize,
    answers: BTreeMap<String, usize>,
    findings: Vec<String>,
}

impl Totals {
    fn add(&mut self, number: u64, ran: Ran) {
        self.volumes += 1;
        self.calls += ran.calls;
        self.steps += ran.steps;
        self.moves += ran.moves;
        self.crossed += ran.crossed;
        for (code, times) in ran.answers {
            *self.answers.entry(code).or_default() += times;
        }
        let findings = ran.findings.into_iter();
        self.findings
            .extend(findings.map(|finding| format!("volume {number}: {finding}")));
    }

    fn merge(mut self, other: Self) -> Self {
        self.volumes += other.volumes;
        self.calls += other.calls;
        self.steps += other.steps;
        self.moves += other.moves;
        self.crossed += other.crossed;
        for (code, times) in other.answers {
            *self.answers.entry(code).or_default() += times;
        }
        self.findings.extend(other.findings);
        self
    }
}

fn ran(numbers: impl Iterator<Item = u64>) -> Totals {
    let objects = Objects::new();
    let mut all = Totals::default();
    for number in numbers {
        if let Some(prepared) = volume(number, None) {
            all.add(number, run(&prepared, &objects, number, CALLS));
        }
    }
    all
}

pub(crate) fn each_volume_does_what_it_means() {
    let (first, count) = (number_from("FIRST", 0), number_from("VOLUMES", 800));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let all = thread::scope(|scope| {
        let part = |core: usize| {
            let numbers = (first..first + count).skip(core).step_by(cores);
            scope.spawn(move || ran(numbers))
        };
        let running: Vec<_> = (0..cores).map(part).collect();
        let parts = running
            .into_iter()
            .map(|part| part.join().expect("no run panics"));
        parts.fold(Totals::default(), Totals::merge)
    });
    eprintln!(
        "{} volumes of {count}, {} calls, {} effects, {} moves of the outside, {} crossed; {:?}",
        all.volumes, all.calls, all.steps, all.moves, all.crossed, all.answers
    );
    assert!(all.findings.is_empty(), "{}", all.findings.join("\n"));
    let is_whole = count < 800 || all.volumes * 4 >= 800 && all.answers.len() >= 8;
    assert!(
        is_whole,
        "too few volumes are clean, or too few answers are given"
    );
}

/// A driver that is wrong in one place, over volumes until one of them shows it; and in the suite of the driver of directories.
pub(crate) fn each_seeded_mistake_of_calls_is_found() {
    let objects = Objects::new();
    let mut rows =
        "| mistake | random volumes | suite, directory driver |\n| --- | --- | --- |\n".to_owned();
    let mut unnoticed = Vec::new();
    for seeded in SeededCall::ALL {
        let mut tried = 0;
        let found = (0..2000).find_map(|number| {
            let prepared = volume(number, Some(seeded))?;
            tried += 1;
            let ran = run(&prepared, &objects, number, CALLS);
            let found = ran.findings.into_iter().next()?;
            eprintln!("{seeded:?}: after {tried} volumes, volume {number} shows it: {found}");
            Some(found)
        });
        let Some(found) = found else {
            unnoticed.push(seeded);
            continue;
        };
        let kind = found.split(':').next().unwrap_or_default();
        rows += &format!(
            "| {} | {kind} | {} |\n",
            seeded.description(),
            of_directory(seeded)
        );
    }
    assert_eq!(unnoticed, [], "nobody notices that these are wrong");
    between("seeded mistakes of calls", |_| rows);
}

/// Returns the verdict of the directory driver's suite on a seeded bug.
fn of_directory(seeded: SeededCall) -> String {
    let (made, mounts) = (provisioning::IR, mount::IR);
    if seeded.declared(made).is_none() && seeded.declared(mounts).is_none() {
        let why = match seeded {
            SeededCall::Deafness | SeededCall::Memory | SeededCall::Building => "no object",
            SeededCall::Preconditions
            | SeededCall::Refusals
            | SeededCall::Order
            | SeededCall::Patience
            | SeededCall::Opposites => "no call has it",
        };
        return format!("– {why}");
    }
    let suite = directory_of(Arc::new(move |folder: &Path| {
        let disk = Arc::new(Disk::new(Places::inside(folder).disk));
        let plugin = Plugin::new(NAME, "1.0").with_controller();
        let provisioner = provisioning::machine(provisioning::Provisioner(Arc::clone(&disk)));
        let mounter = mount::machine(mount::Mounter(disk));
        let of = |ir| seeded.declared(ir).unwrap_or(ir);
        let (provisioner, mounter) = (Wrapped::new(provisioner), Wrapped::new(mounter));
        let volumes = Volumes::new(NAME)
            .serve(
                provisioner.declared(of(made)),
                Driver::controller(plugin.clone(), "c.sock"),
            )
            .serve(
                mounter.declared(of(mounts)),
                Driver::node(plugin, "n.sock", NODE),
            );
        vec![volumes]
    }));
    let found = match suite.most_findings(1).run() {
        Ok(report) => report.findings.into_iter().next(),
        // Nothing disturbs the first life.
        Err(undisturbed) => Some(undisturbed),
    };
    eprintln!("{seeded:?} in the driver of directories: {found:?}");
    let missed = "**no**: any declared answer will do";
    found.map_or(missed, |_| "found").to_owned()
}
