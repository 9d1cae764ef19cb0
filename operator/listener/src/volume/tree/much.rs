//! Tests of a Pod that fills its volume by sheer number. It costs the driver neither memory nor
//! more time than a call has.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use lifecycle_specs_listener::listener::{AddressType, ListenerIngress};
use lifecycle_tests::amount::amount;
use rustix::fd::OwnedFd;

use super::*;

/// Environment variable that names the target to the removing process.
const TARGET: &str = "LIFECYCLE_TREE_TARGET";
/// Upper bound on the memory of a removal of any size: a few buffers. All names of the test would
/// be 17 MiB.
const MOST_KIB: u64 = 6 * 1024;

fn target() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("mount");
    (folder, path)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("it is text")
}

fn desired_files() -> Files {
    files(&[ListenerIngress {
        address: "a".to_owned(),
        address_type: AddressType::Hostname,
        ports: [("p".to_owned(), 1)].into(),
    }])
}

fn opened(path: &Path) -> OwnedFd {
    let target = Target::find(text(path)).expect("it is a path");
    let root = target.expect("its folder is there").open();
    root.expect("it can be opened").expect("it is there")
}

/// Creates this many files with long names in one folder, and a tenth as many folders in another
/// one further down.
fn fill(path: &Path, files: u64) {
    let (much, more) = (path.join("much"), path.join("more/still"));
    for folder in [&much, &more] {
        fs::create_dir_all(folder).expect("it can be made");
    }
    for n in 0..files {
        fs::write(much.join(format!("{n:0250}")), "").expect("it can be written");
    }
    for n in 0..files / 10 {
        fs::create_dir(more.join(format!("{n:0250}"))).expect("it can be made");
    }
}

/// The most memory that this process has had, in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("it is Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|kib| kib.parse().ok()).expect("a number")
}

/// Runs the removal for the test below, in a process of its own so that the memory peak is its own.
#[test]
fn removal_of_what_the_environment_names() {
    let Ok(target) = std::env::var(TARGET) else {
        return;
    };
    let before = peak();
    while let Err(error) = remove(&target) {
        assert!(matches!(error, Error::Unfinished { .. }), "{error}");
    }
    eprintln!("it cost {} KiB", peak() - before);
}

/// Tests the memory of a removal. `FILES=600000` exhausted a driver with 128 MiB.
#[test]
fn a_volume_with_very_many_files_is_removed_without_much_memory() {
    let files = amount("FILES", 40_000, 600_000);
    let (_folder, path) = target();
    write(text(&path), &desired_files()).expect("it can be written");
    fill(&path, files);
    let own = std::env::current_exe().expect("this program");
    let name = "volume::tree::much::removal_of_what_the_environment_names";
    let mut child = Command::new(own);
    let child = child.args([name, "--exact", "--nocapture"]);
    let ended = child.env(TARGET, &path).output().expect("it can be run");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
    assert!(!path.exists());
    let cost = said.split_once("it cost ").expect("it says so").1;
    let cost: u64 = cost
        .split_once(' ')
        .expect("and a unit")
        .0
        .parse()
        .expect("a number");
    eprintln!("{files} files cost {cost} KiB");
    assert!(cost < MOST_KIB, "{files} files cost {cost} KiB");
}

#[test]
fn a_removal_that_takes_too_long_goes_on_with_the_next_call() {
    let (_folder, path) = target();
    fs::create_dir(&path).expect("it can be made");
    fill(&path, 1_000);
    let root = opened(&path);
    let mut calls = 0;
    loop {
        calls += 1;
        assert!(calls < 100, "it does not get on");
        match remove::content(&root, &mut Removal::with_limit(Duration::ZERO)) {
            Ok(()) => break,
            Err(error) => {
                assert!(
                    matches!(error, Error::Unfinished { removed: 64, .. }),
                    "{error}"
                );
                assert!(
                    error.to_string().contains("the next call goes on"),
                    "{error}"
                );
                let found = read(text(&path)).expect("it can be read");
                assert_eq!(found, Tree::Other, "what is left is not passed over");
            }
        }
    }
    assert!(calls > 10, "{calls}");
    assert_eq!(fs::read_dir(&path).expect("it is there").count(), 0);
}

/// Tests that a running Pod gets its addresses, regardless of the time that the removal of its own
/// files takes.
#[test]
fn addresses_are_true_before_the_rest_is_removed() {
    let (_folder, path) = target();
    fs::create_dir(&path).expect("it can be made");
    fill(&path, 400);
    for place in ["..new", "addresses"] {
        fill(&path.join(place), 400);
    }
    symlink("/", path.join("default-address")).expect("it can be made");
    let root = opened(&path);
    let once = |grace| {
        let mut removal = Removal::with_limit(Duration::ZERO);
        write::files(&root, &desired_files(), grace, &mut removal)
    };
    let error = once(Duration::ZERO).expect_err("there is much to remove");
    assert!(matches!(error, Error::Unfinished { .. }), "{error}");
    assert_eq!(read::files(&root), Some(desired_files()));
    while let Err(error) = once(Duration::ZERO) {
        assert!(matches!(error, Error::Unfinished { .. }), "{error}");
    }
    assert_eq!(
        read(text(&path)).expect("it can be read"),
        Tree::Files(desired_files())
    );
}

/// Many addresses with many ports each are read only so far.
#[test]
fn what_a_pod_makes_of_the_files_is_not_read_to_its_end() {
    let (_folder, path) = target();
    write(text(&path), &desired_files()).expect("it can be written");
    for address in 0..150 {
        let ports = path.join(format!("addresses/{address}/ports"));
        fs::create_dir_all(&ports).expect("it can be made");
        fs::write(ports.with_file_name("address"), "x").expect("it can be written");
        for port in 0..150 {
            fs::write(ports.join(port.to_string()), "1").expect("it can be written");
        }
    }
    assert_eq!(read(text(&path)).expect("it can be read"), Tree::Other);
    // A busy disk needs more than one call may take: the next one goes on.
    while let Err(error) = write(text(&path), &desired_files()) {
        assert!(
            matches!(error, Error::Unfinished { removed: 1.., .. }),
            "{error}"
        );
    }
    assert_eq!(
        read(text(&path)).expect("it can be read"),
        Tree::Files(desired_files())
    );
}
