//! `docs/sandbox.md`, on two sites: its commands cut the link and make another one, and bytes go both ways before and after.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use lifecycle_tests::harness::{Case, Need, blocking};

use crate::sandbox::{Sandbox, root};

const EXAMPLE: &str = "deploy/examples/skupper-network.yaml";
const SECTION: &str = "## Two sites\n";
const SOON: Duration = Duration::from_secs(60);
const AGAIN: Duration = Duration::from_millis(50);

pub(crate) fn cases() -> Vec<Case> {
    vec![blocking(
        "the_commands_of_the_page_cut_the_link_and_make_another_one",
        &[Need::Binaries],
        the_commands_of_the_page_cut_the_link_and_make_another_one,
    )]
}

fn the_commands_of_the_page_cut_the_link_and_make_another_one() {
    // Loopback has many addresses, and other sandboxes have the first.
    let block = 100 + std::process::id() % 120;
    let (first, second) = (format!("127.{block}.9.1"), format!("127.{block}.9.2"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("network.yaml");
    let manifests = fs::read_to_string(root().join(EXAMPLE)).unwrap();
    let manifests = manifests.replace("host: 127.0.0.1", &format!("host: {first}"));
    fs::write(&file, manifests).unwrap();
    let file = file.to_str().unwrap();
    let sandbox = Sandbox::start_within(120, &["--local-address", &first, file]);
    let doors = [format!("{first}:1024"), format!("{second}:1024")];
    doors
        .iter()
        .for_each(|door| assert!(echoes(door), "{door}"));
    let page = fs::read_to_string(root().join("docs/sandbox.md")).unwrap();
    let (_, section) = page.split_once(SECTION).unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    assert!(section.contains(EXAMPLE));
    let blocks = section.split("```sh\n").skip(1);
    let commands = blocks.flat_map(|block| block.split("```").next().unwrap().lines());
    let commands: Vec<&str> = commands.filter(|line| line.contains("kubectl ")).collect();
    let cut = commands
        .iter()
        .position(|line| line.contains("Matched=false"));
    let (cut, join) = commands.split_at(cut.unwrap() + 1);
    drawn(&sandbox, section, &first);
    all_succeed(&sandbox, cut);
    let listener = "kubectl -n east get listeners.skupper.io orders -o jsonpath='{.status.status}: {.status.message}'";
    assert_eq!(sandbox.prints(listener), "Pending: No matching connectors");
    for door in &doors {
        until(door, |door| TcpStream::connect(door).is_err());
    }
    assert!(join.len() >= 4, "{join:?}");
    all_succeed(&sandbox, join);
    doors.iter().for_each(|door| until(door, echoes));
}

fn all_succeed(sandbox: &Sandbox, commands: &[&str]) {
    for command in commands {
        let output = sandbox.shell(command).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {said}");
    }
}

/// Both Listeners follow, one a moment after the other.
#[track_caller]
fn until(door: &str, is: impl Fn(&str) -> bool) {
    let deadline = Instant::now() + SOON;
    while !is(door) {
        assert!(Instant::now() < deadline, "{door}");
        std::thread::sleep(AGAIN);
    }
}

/// Returns true if bytes come back as they were sent.
fn echoes(door: &str) -> bool {
    let sent: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
    let Ok(mut stream) = TcpStream::connect(door) else {
        return false;
    };
    stream.set_read_timeout(Some(SOON)).unwrap();
    let mut writer = stream.try_clone().unwrap();
    let bytes = sent.clone();
    let writing = std::thread::spawn(move || {
        writer.write_all(&bytes)?;
        writer.shutdown(Shutdown::Write)
    });
    let mut back = Vec::new();
    let read = stream.read_to_end(&mut back);
    writing.join().unwrap().is_ok() && read.is_ok() && back == sent
}

/// The network as the page has it, and as a picture.
fn drawn(sandbox: &Sandbox, section: &str, address: &str) {
    let (_, example) = section.split_once("2 sites, 1 link\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let expected = format!("2 sites, 1 link\n{}", example.replace("127.0.0.1", address));
    let command = "lifecycle-operator network --all-namespaces";
    assert!(section.contains(command));
    until(command, |command| sandbox.prints(command) == expected);
    let picture = sandbox.prints(&format!("{command} --output svg"));
    assert!(
        picture.starts_with("<?xml") || picture.starts_with("<svg"),
        "{picture}"
    );
    assert!(picture.contains("to-west, cost 1"), "{picture}");
    let dot = sandbox.prints("lifecycle-operator network -n east -o dot");
    assert!(dot.starts_with("digraph network {"), "{dot}");
    let nothing = sandbox.prints("lifecycle-operator network --namespace default");
    assert!(
        nothing.contains("namespace `default` has no Site"),
        "{nothing}"
    );
}
