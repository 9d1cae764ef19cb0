//! Mistakes that are planted into drivers, each found by the suite and named.

use std::any::Any;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use lifecycle_operator::volume::{Mounting, provisions};
use lifecycle_runtime::Operator;
use lifecycle_runtime::csi::{Driver, Plugin};
use lifecycle_runtime::lifecycle::call::{CallError, Called, Calling, Polling};
use lifecycle_runtime::lifecycle::{
    Answer, Board, Built, CreatedVolume, Kind, Look, Machine, Once, Stored,
};
use lifecycle_runtime::machine::ir::Lifecycle;
use lifecycle_specs::listener_mount;
use lifecycle_tests::volumes::disk::Disk;
use lifecycle_tests::volumes::{NAME, NODE, Places, mount, provisioning, suites};

/// What is done wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    /// Unpublishing leaves a file beside the target.
    Leaves,
    /// Publishing writes a file of somebody else's.
    Touches,
    /// What was staged is known to the process that staged it and to no other.
    Remembers,
    /// What is published is published again by every call.
    Repeats,
    /// Publishing what is published already breaks down.
    Breaks,
}

/// A machine with a mistake.
struct Planted<M> {
    inner: M,
    mistake: Mistake,
    staged: Mutex<BTreeSet<String>>,
    asked: AtomicU32,
}

fn planted<M>(inner: M, mistake: Mistake) -> Planted<M> {
    Planted {
        inner,
        mistake,
        staged: Mutex::default(),
        asked: AtomicU32::new(0),
    }
}

impl<M: Machine> Planted<M> {
    fn after(&self, effect: &str, key: &str) -> Result<(), CallError> {
        let beside = Path::new(key).parent().unwrap_or(Path::new("/"));
        let written = match (self.mistake, effect) {
            (Mistake::Leaves, "unpublish" | "remove_tree") => fs::write(beside.join("old"), ""),
            (Mistake::Touches, "publish" | "write_tree") => {
                fs::write(beside.join("vol_data.json"), "mine")
            }
            (_, _) => Ok(()),
        };
        written.map_err(|error| CallError::Failed(error.to_string()))
    }
}

impl<M: Machine> Machine for Planted<M> {
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
        self.inner.poll(board, input)
    }

    fn fact(&self, board: &Board, var: usize) -> Option<Answer> {
        let answer = self.inner.fact(board, var)?;
        let of = &self.ir().vars[var];
        let is = |value: &str| of.values[usize::from(answer.value)] == value;
        if of.name != "fresh" || !is("true") {
            return Some(answer);
        }
        let times = self.asked.fetch_add(1, Ordering::Relaxed);
        match self.mistake {
            Mistake::Repeats if times.is_multiple_of(2) => {
                let no = of.values.iter().position(|value| *value == "false")?;
                Some(Answer::plain(u8::try_from(no).ok()?))
            }
            Mistake::Breaks if times % 5 == 4 => panic!("it was not meant to be asked again"),
            Mistake::Leaves
            | Mistake::Touches
            | Mistake::Remembers
            | Mistake::Repeats
            | Mistake::Breaks => Some(answer),
        }
    }

    fn call<'a>(&'a self, board: &'a Board, effect: usize, once: Once<'a>) -> Option<Calling<'a>> {
        let name = self.ir().effects[effect].name;
        let key = once.key().to_owned();
        if self.mistake == Mistake::Remembers {
            let mut staged = self.staged.lock().expect("nobody panics with it");
            if name == "stage" {
                staged.insert(key.clone());
            }
            if name == "unstage" && !staged.remove(&key) {
                return Some(Box::pin(std::future::ready(Ok(Called(0)))));
            }
        }
        let calling = self.inner.call(board, effect, once)?;
        Some(Box::pin(async move {
            let called = calling.await?;
            self.after(name, &key)?;
            Ok(called)
        }))
    }
}

/// The first finding about the directory driver with a mistake.
fn of_directory(mistake: Mistake) -> String {
    let suite = suites::directory_of(Arc::new(move |folder: &Path| {
        let places = Places::inside(folder);
        let disk = Arc::new(Disk::at(places.disk));
        let plugin = Plugin::new(NAME, "1.0").with_controller();
        let made = provisioning::machine(provisioning::Provisioner(Arc::clone(&disk)));
        let mounts = planted(mount::machine(mount::Mounter(disk)), mistake);
        let controller = Driver::controller(plugin.clone(), "c.sock");
        let node = Driver::node(plugin, "n.sock", NODE);
        vec![
            Operator::new(NAME)
                .serve(made, controller)
                .serve(mounts, node),
        ]
    }));
    let report = suite.most_findings(1).run().expect("it begins");
    report.findings.first().cloned().unwrap_or_default()
}

/// The first finding about the node side of the Listener volume with a mistake.
fn of_listener(mistake: Mistake) -> String {
    let suite = suites::listener_of(Arc::new(move |_: &Path| {
        let node = "node-1".to_owned();
        let mounts = planted(listener_mount::machine(Mounting { node }), mistake);
        let plugin = Plugin::new("listeners.stackable.tech", "1.0").with_controller();
        let driver = Driver::node(plugin, "n.sock", "node-1");
        let operator = || Operator::new("listeners.stackable.tech");
        vec![
            provisions(operator(), "c.sock"),
            operator().serve(mounts, driver),
        ]
    }));
    let report = suite.most_findings(1).run().expect("it begins");
    report.findings.first().cloned().unwrap_or_default()
}

#[track_caller]
fn check(found: &str, expected: &str) {
    assert!(found.contains(expected), "{found}");
}

#[test]
fn a_file_that_is_left_is_found() {
    let expected = "at the end: `pods/0/volume/old` is there";
    check(&of_directory(Mistake::Leaves), expected);
}

#[test]
fn a_file_of_somebody_else_is_found() {
    let expected =
        "it touches what is not its own, while it is mounted: `pods/0/volume/vol_data.json`";
    check(&of_directory(Mistake::Touches), expected);
    check(&of_listener(Mistake::Touches), expected);
}

#[test]
fn a_memory_that_a_crash_takes_away_is_found() {
    let found = of_directory(Mistake::Remembers);
    check(&found, "crash-");
    check(
        &found,
        "Unstage never ends well: Internal `unstage` was done 10 times and does not show",
    );
}

#[test]
fn a_call_that_writes_what_is_written_is_found() {
    let expected = "undisturbed: what was done already takes 2 writes again";
    check(&of_listener(Mistake::Repeats), expected);
}

#[test]
fn a_code_that_is_not_declared_is_found() {
    let expected = "NodePublishVolume answers Internal, which it does not declare";
    check(&of_listener(Mistake::Breaks), expected);
}
