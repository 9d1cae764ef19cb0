//! Folders that appear whole, change whole and go whole.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn files(text: &str) -> BTreeMap<String, Vec<u8>> {
    let names = ["ca.crt", "tls.crt", "tls.key"];
    names
        .map(|name| (name.to_owned(), format!("{name} {text}").into_bytes()))
        .into()
}

fn folders(all: &[(&str, &str)]) -> Folders {
    let all = all.iter();
    all.map(|(name, text)| ((*name).to_owned(), files(text)))
        .collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn names(root: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(root)
        .unwrap()
        .map(|found| found.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_folder_is_written_once_and_marked_until_it_is_loaded() {
    let root = tempfile::tempdir().unwrap();
    let certificates = Certificates::new(&root.path().join("made"));
    let root = certificates.root().to_owned();
    let written = certificates.write(&folders(&[("web", "1")]));
    assert_eq!((written.unloaded, written.failed.len()), (set(&["web"]), 0));
    let mode = |name: &str| {
        let metadata = fs::metadata(root.join("web").join(name)).unwrap();
        metadata.permissions().mode() & 0o777
    };
    assert_eq!((mode("tls.key"), mode("ca.crt")), (0o600, 0o644));
    let shared = certificates.clone().sharing_keys();
    shared.write(&folders(&[("shared", "1")]));
    let key = fs::metadata(root.join("shared/tls.key")).unwrap();
    assert_eq!(key.permissions().mode() & 0o777, 0o644);
    certificates.loaded("web").unwrap();
    let inode = || fs::read_link(root.join("web")).unwrap();
    let before = inode();
    assert_eq!(
        certificates.write(&folders(&[("web", "1")])),
        Written::default()
    );
    assert_eq!(inode(), before);
    let written = certificates.write(&folders(&[("web", "2")]));
    assert_eq!(written.unloaded, set(&["web"]));
    assert_eq!(fs::read(root.join("web/tls.key")).unwrap(), b"tls.key 2");
    // As after a crash: the mark is still there.
    let written = certificates.write(&folders(&[("web", "2")]));
    assert_eq!(written.unloaded, set(&["web"]));
    certificates.loaded("web").unwrap();
    certificates.sweep(&set(&["web"])).unwrap();
    assert_eq!(names(&root).len(), 2, "{:?}", names(&root));
    certificates.sweep(&set(&[])).unwrap();
    assert_eq!(names(&root), Vec::<String>::new());
}

#[test]
fn files_that_somebody_changed_are_written_again() {
    let root = tempfile::tempdir().unwrap();
    let certificates = Certificates::new(root.path());
    for _ in 0..3 {
        certificates.write(&folders(&[("web", "1")]));
        certificates.loaded("web").unwrap();
        fs::write(root.path().join("web/tls.crt"), "other").unwrap();
        let written = certificates.write(&folders(&[("web", "1")]));
        assert_eq!((written.unloaded, written.failed.len()), (set(&["web"]), 0));
        let read = fs::read(root.path().join("web/tls.crt")).unwrap();
        assert_eq!(read, b"tls.crt 1");
        certificates.sweep(&set(&["web"])).unwrap();
    }
}

#[test]
fn a_folder_of_another_program_is_taken_over_and_other_files_stay() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("web")).unwrap();
    fs::write(root.path().join("web/tls.crt"), "old").unwrap();
    fs::write(root.path().join("skrouterd.json"), "[]").unwrap();
    let certificates = Certificates::new(root.path());
    let written = certificates.write(&folders(&[("web", "1"), (&"x".repeat(300), "1")]));
    assert_eq!(written.failed.len(), 1, "{:?}", written.failed);
    assert_eq!(
        fs::read(root.path().join("web/tls.crt")).unwrap(),
        b"tls.crt 1"
    );
    certificates.sweep(&set(&[])).unwrap();
    assert_eq!(names(root.path()), ["skrouterd.json"]);
}
