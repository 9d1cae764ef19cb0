//! Checks that the committed code in `src/generated` is the output for the `.proto` files.
//! `BLESS=1` writes it. No compiler but Rust's is needed, but the committed code must compile.
//! Generate a new `.proto` file first, and include it then.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use prost::Message;

/// Files to compile, relative to the folder of the package.
const PROTOS: [&str; 2] = ["csi.proto", "pluginregistration.proto"];

/// Files of one folder by name.
type Files = BTreeMap<String, Vec<u8>>;

/// `BLESS=1` writes it.
#[test]
fn the_committed_code_is_what_the_proto_files_give() {
    let (generated, committed) = (generate(), read(&folder()));
    if let Some(difference) = difference(&generated, &committed) {
        if std::env::var_os("BLESS").is_none() {
            panic!(
                "{difference}; run `BLESS=1 cargo test --workspace --test generated` and review what it changes"
            );
        }
        write(&generated, &committed);
    }
}

#[test]
fn a_file_that_is_edited_absent_or_left_over_is_named() {
    let files = |list: &[(&str, &str)]| -> Files {
        let owned = list.iter();
        owned
            .map(|(name, text)| ((*name).to_owned(), (*text).into()))
            .collect()
    };
    let generated = files(&[("a.rs", "a"), ("b.rs", "b")]);
    let said = |committed: &[(&str, &str)]| difference(&generated, &files(committed));
    assert_eq!(said(&[("a.rs", "a"), ("b.rs", "b")]), None);
    for (committed, expected) in [
        (&[("a.rs", "a"), ("b.rs", "c")][..], "b.rs is not what"),
        (&[("a.rs", "a")], "b.rs is absent"),
        (
            &[("a.rs", "a"), ("b.rs", "b"), ("c.rs", "")],
            "c.rs is generated from no",
        ),
    ] {
        let said = said(committed).expect("a difference");
        assert!(said.contains(expected), "{said}");
    }
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn folder() -> PathBuf {
    package().join("src/generated")
}

/// Returns the generator's current output for the `.proto` files.
fn generate() -> Files {
    let descriptors = protox::compile(PROTOS, [package()]).expect("the .proto files compile");
    let encoded = descriptors.encode_to_vec();
    let output = tempfile::tempdir().expect("a folder to generate into");
    tonic_prost_build::configure()
        .btree_map(".")
        .generate_default_stubs(true)
        .emit_rerun_if_changed(false)
        .out_dir(output.path())
        .compile_fds(descriptors)
        .expect("the descriptors become Rust");
    let mut files = read(output.path());
    files.insert("descriptors.bin".to_owned(), encoded);
    files
}

/// The first file that differs, as the beginning of a sentence.
fn difference(generated: &Files, committed: &Files) -> Option<String> {
    let changed = generated.iter().find_map(|(name, content)| {
        let path = format!("proto/src/generated/{name}");
        match committed.get(name) {
            None => Some(format!("{path} is absent")),
            Some(found) if found != content => Some(format!(
                "{path} is not what the generator makes of the .proto files"
            )),
            Some(_) => None,
        }
    });
    let mut left_over = committed
        .keys()
        .filter(|name| !generated.contains_key(*name));
    changed.or_else(|| {
        let name = left_over.next()?;
        Some(format!(
            "proto/src/generated/{name} is generated from no .proto file"
        ))
    })
}

fn read(folder: &Path) -> Files {
    let Ok(entries) = fs::read_dir(folder) else {
        return Files::new();
    };
    entries
        .map(|entry| {
            let entry = entry.expect("a file of the folder");
            let content = fs::read(entry.path()).expect("a readable file");
            (entry.file_name().to_string_lossy().into_owned(), content)
        })
        .collect()
}

fn write(generated: &Files, committed: &Files) {
    let folder = folder();
    fs::create_dir_all(&folder).expect("the folder can be made");
    for (name, content) in generated {
        fs::write(folder.join(name), content).expect("a generated file can be written");
    }
    for name in committed
        .keys()
        .filter(|name| !generated.contains_key(*name))
    {
        fs::remove_file(folder.join(name)).expect("a file that is left over can be removed");
    }
}
