//! The files on a real disk: their content, the view of a concurrent reader, and the limits of a
//! Pod.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use lifecycle_specs_listener::listener::{AddressType, ListenerIngress};

use super::layout::OLD;
use super::*;

/// A folder as kubelet makes it, and the target in it.
struct Volume {
    folder: tempfile::TempDir,
}

impl Volume {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("mount")
    }

    fn target(&self) -> String {
        self.path().to_str().expect("it is text").to_owned()
    }

    fn write(&self, addresses: &[ListenerIngress]) -> Result<(), Error> {
        write(&self.target(), &files(addresses))
    }

    /// Every file and symlink with its mode and content.
    fn listing(&self) -> Vec<String> {
        let mut lines = Vec::new();
        list(&self.path(), "", &mut lines);
        lines.sort();
        lines
    }
}

fn list(path: &Path, name: &str, lines: &mut Vec<String>) {
    let found = fs::symlink_metadata(path).expect("it is there");
    let mode = found.permissions().mode() & 0o7777;
    if found.is_symlink() {
        let leads = fs::read_link(path).expect("it leads somewhere");
        lines.push(format!("{name} -> {}", leads.display()));
    } else if found.is_dir() {
        lines.push(format!("{name}/ {mode:o}"));
        for entry in fs::read_dir(path).expect("it can be read") {
            let below = entry.expect("it can be read").file_name();
            let below = below.to_str().expect("it is text");
            if below.starts_with(OLD) {
                continue;
            }
            list(&path.join(below), &format!("{name}/{below}"), lines);
        }
    } else {
        let content = fs::read_to_string(path).expect("it can be read");
        lines.push(format!("{name} {mode:o} {content:?}"));
    }
}

fn new_ingress(address: &str, ports: &[(&str, i32)]) -> ListenerIngress {
    ListenerIngress {
        address: address.to_owned(),
        address_type: AddressType::Hostname,
        ports: ports
            .iter()
            .map(|(name, number)| ((*name).to_owned(), *number))
            .collect(),
    }
}

#[test]
fn m26_the_tree_is_the_one_of_the_contract() {
    let volume = Volume::new();
    let addresses = [
        new_ingress("b.example.com", &[("http", 80)]),
        new_ingress("fd00::1", &[("http", 80), ("https", 443)]),
    ];
    volume.write(&addresses).expect("it can be written");
    let expected = [
        "/ 755",
        "/addresses/ 755",
        "/addresses/b.example.com/ 755",
        "/addresses/b.example.com/address 644 \"b.example.com\"",
        "/addresses/b.example.com/ports/ 755",
        "/addresses/b.example.com/ports/http 644 \"80\"",
        "/addresses/fd00::1/ 755",
        "/addresses/fd00::1/address 644 \"fd00::1\"",
        "/addresses/fd00::1/ports/ 755",
        "/addresses/fd00::1/ports/http 644 \"80\"",
        "/addresses/fd00::1/ports/https 644 \"443\"",
        "/default-address -> addresses/b.example.com",
    ];
    assert_eq!(volume.listing(), expected);
    assert_eq!(
        read(&volume.target()).expect("it can be read"),
        Tree::Files(files(&addresses))
    );
}

#[test]
fn what_changes_takes_the_place_of_what_was_there() {
    let volume = Volume::new();
    let steps = [
        vec![new_ingress("a", &[("p", 1)])],
        vec![new_ingress("a", &[("p", 2)])],
        vec![new_ingress("b", &[("p", 2)]), new_ingress("a", &[("q", 3)])],
        vec![new_ingress("a", &[("q", 3)]), new_ingress("b", &[("p", 2)])],
        vec![new_ingress("c", &[])],
    ];
    for addresses in &steps {
        volume.write(addresses).expect("it can be written");
        let fresh = Volume::new();
        fresh.write(addresses).expect("it can be written");
        assert_eq!(volume.listing(), fresh.listing());
        let found = read(&volume.target()).expect("it can be read");
        assert_eq!(found, Tree::Files(files(addresses)));
    }
}

#[test]
fn what_was_replaced_goes_and_so_does_what_a_write_that_failed_left() {
    let volume = Volume::new();
    let left = || fs::read_dir(volume.path()).expect("it is there").count();
    for address in ["a", "b"] {
        volume
            .write(&[new_ingress(address, &[("p", 1)])])
            .expect("it can be written");
        assert_eq!(left(), 2);
    }
    fs::create_dir(volume.path().join("..old-7")).expect("it can be made");
    let target = Target::find(&volume.target()).expect("it is a path");
    let root = target.expect("its folder is there").open();
    let root = root.expect("it can be opened").expect("it is there");
    let same = files(&[new_ingress("b", &[("p", 1)])]);
    let mut removal = Removal::with_limit(remove::LIMIT);
    write::files(&root, &same, std::time::Duration::ZERO, &mut removal).expect("it can be written");
    assert_eq!(left(), 2);
}

#[test]
fn the_same_again_touches_no_file() {
    let volume = Volume::new();
    let addresses = [new_ingress("a", &[("p", 1)])];
    let inode = || {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(volume.path().join("addresses"))
            .expect("it is there")
            .ino()
    };
    volume.write(&addresses).expect("it can be written");
    let before = inode();
    volume.write(&addresses).expect("it can be written");
    assert_eq!(inode(), before);
}

/// Kubelet sets owner and mode for `fsGroup`; that alone makes no tree stale.
#[test]
fn modes_that_kubelet_changed_leave_the_tree_fresh() {
    let volume = Volume::new();
    let addresses = [new_ingress("a", &[("p", 1)])];
    volume.write(&addresses).expect("it can be written");
    let file = volume.path().join("addresses/a/address");
    fs::set_permissions(file, fs::Permissions::from_mode(0o660)).expect("it can be changed");
    let found = read(&volume.target()).expect("it can be read");
    assert_eq!(found, Tree::Files(files(&addresses)));
}

#[test]
fn b44_a_reader_that_loops_never_sees_half() {
    let volume = Volume::new();
    let generation = |number: i32| {
        let name = if number % 3 == 0 { "even" } else { "odd" };
        let other = new_ingress("other", &[("p", number)]);
        vec![
            new_ingress(&format!("{name}-{number}"), &[("p", number)]),
            other,
        ]
    };
    volume.write(&generation(0)).expect("it can be written");
    let done = AtomicBool::new(false);
    let default = volume.path().join("default-address");
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = 0_u64;
            while !done.load(Ordering::Relaxed) || seen == 0 {
                let address = || fs::read_to_string(default.join("address")).expect("there is one");
                let before = address();
                let port = fs::read_to_string(default.join("ports/p")).expect("there is one");
                if address() == before {
                    assert!(before.ends_with(&format!("-{port}")), "{before} and {port}");
                    seen += 1;
                }
                let all = fs::read_dir(volume.path().join("addresses")).expect("it is there");
                assert!(all.count() <= 3);
            }
            seen
        });
        for number in 1..20 {
            volume
                .write(&generation(number))
                .expect("it can be written");
        }
        done.store(true, Ordering::Relaxed);
        assert!(reader.join().expect("it saw nothing odd") > 0);
    });
}

#[test]
fn what_a_crash_left_behind_goes_with_the_next_write() {
    let volume = Volume::new();
    let addresses = [new_ingress("a", &[("p", 1)])];
    volume.write(&addresses).expect("it can be written");
    fs::create_dir_all(volume.path().join("..new/a/ports")).expect("it can be made");
    fs::create_dir_all(volume.path().join("other")).expect("it can be made");
    assert_eq!(read(&volume.target()).expect("it can be read"), Tree::Other);
    volume.write(&addresses).expect("it can be written");
    let fresh = Volume::new();
    fresh.write(&addresses).expect("it can be written");
    assert_eq!(volume.listing(), fresh.listing());
}

/// Tests that a Pod may write to its volume, but its symlinks are not followed.
#[test]
fn b44_symlinks_of_a_pod_are_not_followed() {
    let (volume, outside) = (Volume::new(), Volume::new());
    let precious = outside.folder.path().join("precious");
    fs::write(&precious, "kept").expect("it can be written");
    let addresses = [new_ingress("a", &[("p", 1)])];
    volume.write(&addresses).expect("it can be written");
    for (replaced, leads) in [
        ("addresses", outside.folder.path()),
        ("addresses/a", outside.folder.path()),
        ("addresses/a/ports", outside.folder.path()),
        ("addresses/a/address", &precious),
        ("default-address", outside.folder.path()),
        ("..new", outside.folder.path()),
        ("more", outside.folder.path()),
    ] {
        let path = volume.path().join(replaced);
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => fs::remove_dir_all(&path).expect("it can be removed"),
            Ok(_) => fs::remove_file(&path).expect("it can be removed"),
            Err(_) => {}
        }
        symlink(leads, &path).expect("it can be made");
        assert_eq!(
            read(&volume.target()).expect("it can be read"),
            Tree::Other,
            "{replaced}"
        );
        volume.write(&addresses).expect("it can be written");
        let found = read(&volume.target()).expect("it can be read");
        assert_eq!(found, Tree::Files(files(&addresses)), "{replaced}");
    }
    symlink(outside.folder.path(), volume.path().join("addresses/out")).expect("it can be made");
    remove(&volume.target()).expect("it can be removed");
    assert!(!volume.path().exists());
    assert_eq!(fs::read_to_string(&precious).expect("it is there"), "kept");
    assert_eq!(
        fs::read_dir(outside.folder.path())
            .expect("it is there")
            .count(),
        1
    );
}

/// No files are written over a file, and unpublishing removes it: the Pod must not stay Terminating.
#[test]
fn a_file_at_the_target_is_not_written_over_and_is_removed() {
    let volume = Volume::new();
    let addresses = [new_ingress("a", &[("p", 1)])];
    let elsewhere = volume.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("it can be made");
    fs::write(elsewhere.join("precious"), "kept").expect("it can be written");
    let file = || fs::write(volume.path(), "a file");
    let link = || symlink(&elsewhere, volume.path());
    let socket = || std::os::unix::net::UnixListener::bind(volume.path()).map(drop);
    let makes: [(&dyn Fn() -> std::io::Result<()>, &str); 3] =
        [(&file, "a file"), (&link, "a symlink"), (&socket, "a file")];
    for (make, what) in makes {
        make().expect("it can be made");
        assert_eq!(read(&volume.target()).expect("it can be read"), Tree::Other);
        let error = volume.write(&addresses).expect_err(what);
        assert!(error.to_string().contains(what), "{error}");
        remove(&volume.target()).expect(what);
        assert!(fs::symlink_metadata(volume.path()).is_err(), "{what}");
        let found = read(&volume.target()).expect("it can be read");
        assert_eq!(found, Tree::Absent);
    }
    let kept = fs::read_to_string(elsewhere.join("precious"));
    assert_eq!(kept.expect("it is there"), "kept");
}

/// The replaced operator made a plain folder, and kubelet gave it to the group of the Pod.
#[test]
fn a_folder_of_the_replaced_operator_is_refreshed_in_place_and_removed() {
    let volume = Volume::new();
    let left = |address: &str| {
        let of_address = volume.path().join("addresses").join(address);
        fs::create_dir_all(of_address.join("ports")).expect("it can be made");
        fs::write(of_address.join("address"), address).expect("it can be written");
        fs::write(of_address.join("ports/http"), "80").expect("it can be written");
        for folder in ["", "addresses", &format!("addresses/{address}")] {
            let mode = fs::Permissions::from_mode(0o2775);
            fs::set_permissions(volume.path().join(folder), mode).expect("it can be changed");
        }
        symlink(
            format!("addresses/{address}"),
            volume.path().join("default-address"),
        )
        .expect("it can be made");
    };
    left("10.0.0.1");
    let inode = || {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(volume.path()).expect("it is there").ino()
    };
    let before = inode();
    let same = [new_ingress("10.0.0.1", &[("http", 80)])];
    let found = read(&volume.target()).expect("it can be read");
    assert_eq!(found, Tree::Files(files(&same)), "it is fresh as it is");
    let wanted = [new_ingress("10.0.0.2", &[("http", 81)])];
    volume.write(&wanted).expect("it can be written");
    let found = read(&volume.target()).expect("it can be read");
    assert_eq!(found, Tree::Files(files(&wanted)));
    assert_eq!(inode(), before, "a Pod that runs still has this folder");
    remove(&volume.target()).expect("it can be removed");
    left("10.0.0.1");
    // Leftovers of a crash or of another version.
    fs::create_dir_all(volume.path().join("more/below")).expect("it can be made");
    fs::write(volume.path().join("more/below/file"), "x").expect("it can be written");
    remove(&volume.target()).expect("it can be removed");
    assert!(!volume.path().exists());
}

#[test]
fn depth_is_no_defence() {
    let volume = Volume::new();
    volume
        .write(&[new_ingress("a", &[])])
        .expect("it can be written");
    let mut path = volume.path();
    for _ in 0..1_500 {
        path.push("d");
    }
    fs::create_dir_all(&path).expect("it can be made");
    fs::write(path.join("f"), "deep").expect("it can be written");
    remove(&volume.target()).expect("it can be removed");
    assert!(!volume.path().exists());
}

#[test]
fn removing_what_is_not_there_is_fine() {
    let volume = Volume::new();
    remove(&volume.target()).expect("there is no target");
    remove("/does/not/exist/at/all").expect("there is not even a folder");
    assert_eq!(
        read("/does/not/exist/at/all").expect("nothing is there"),
        Tree::Absent
    );
    let error =
        write("/does/not/exist/at/all", &files(&[new_ingress("a", &[])])).expect_err("nowhere");
    assert!(error.to_string().contains("does not exist"), "{error}");
}

#[test]
fn paths_that_are_none_are_refused() {
    let long = format!("/{}", "a/".repeat(2_100));
    let wide = format!("/tmp/{}", "a".repeat(300));
    for path in [
        "",
        "relative",
        "/",
        "/tmp/../etc",
        "/tmp/..",
        "/tmp/a\0b",
        &long,
        &wide,
    ] {
        for answer in [
            read(path).map(drop),
            remove(path),
            write(path, &files(&[new_ingress("a", &[])])),
        ] {
            let error = answer.expect_err(path);
            assert!(matches!(error, Error::Path(_)), "{path:?}: {error}");
            assert!(error.to_string().len() <= 200, "{error}");
        }
    }
}

#[test]
fn b44_names_that_are_no_files_are_refused_and_nothing_is_left() {
    let volume = Volume::new();
    let wide = "a".repeat(300);
    for name in ["", ".", "..", "../x", "a/b", "a\0b", "a\nb", &wide] {
        for addresses in [[new_ingress(name, &[])], [new_ingress("a", &[(name, 1)])]] {
            let error = volume.write(&addresses).expect_err(name);
            assert!(matches!(error, Error::Name { .. }), "{name:?}: {error}");
            assert!(!volume.path().exists());
        }
    }
    assert!(matches!(volume.write(&[]), Err(Error::Nothing)));
}
