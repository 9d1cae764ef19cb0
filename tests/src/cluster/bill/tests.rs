//! Bills of materials of all programs, checked against `Cargo.lock`.

use super::*;
use crate::cluster::images::{Program, TARGET};

const PROGRAMS: [Program; 3] = [Program::Listener, Program::Skupper, Program::Router];

/// Parts of every program. Two of them are not crates.
const INSIDE: [&str; 4] = ["tokio", "rustls", "rust-std", "glibc"];

/// Crates that only tests use, or only the compiler.
const OUTSIDE: [&str; 5] = [
    "lifecycle-macros-core",
    "lifecycle-tests",
    "libtest-mimic",
    "serde_derive",
    "syn",
];

fn id(name: &str, version: &str) -> Id {
    (name.to_owned(), version.to_owned())
}

fn read(program: Program) -> Bill {
    Bill::read(program.name(), program.package(), TARGET).unwrap()
}

#[test]
fn a_tree_becomes_crates_with_features_and_needs() {
    let tree = "0|own v0.1.0 (/folder/own)|Apache-2.0|\n\
                1|one v1.0.4|MIT/Apache-2.0|default,std\n\
                2|two v2.0.0+spec|MIT|\n\
                1|two v2.0.0+spec|MIT|more (*)\n";
    let (root, crates) = parse(tree).unwrap();
    assert_eq!(root, id("own", "0.1.0"));
    assert_eq!(crates.len(), 3);
    let two = id("two", "2.0.0+spec");
    assert_eq!(
        crates[&root].needs,
        BTreeSet::from([id("one", "1.0.4"), two.clone()])
    );
    let one = &crates[&id("one", "1.0.4")];
    assert_eq!(one.licence, "MIT OR Apache-2.0");
    assert_eq!(
        one.features,
        BTreeSet::from(["default".to_owned(), "std".to_owned()])
    );
    assert_eq!(one.needs, BTreeSet::from([two.clone()]));
    assert_eq!(crates[&two].features, BTreeSet::from(["more".to_owned()]));
    assert_eq!(purl(&two), "pkg:cargo/two@2.0.0%2Bspec");
    assert_eq!(parse("0|own v0.1.0|Apache-2.0\n"), None);
    assert_eq!(
        parse("1|own v0.1.0|Apache-2.0|\n").map(|(root, _)| root),
        Some(id("own", "0.1.0"))
    );
}

/// Returns the crate of a component, or `None` if it is not a crate.
fn of_component(component: &Value) -> Option<Id> {
    let purl = component["purl"].as_str().unwrap();
    purl.strip_prefix("pkg:cargo/")?;
    let text = |field: &str| component[field].as_str().unwrap();
    Some(id(text("name"), text("version")))
}

#[test]
fn the_bill_of_each_image_has_the_crates_of_the_lock_file() {
    let lock = fs::read_to_string(workspace().join("Cargo.lock")).unwrap();
    let pinned = checksums(&lock);
    for program in PROGRAMS {
        let bill = read(program);
        let text = bill.cyclonedx().unwrap();
        assert_eq!(text, bill.cyclonedx().unwrap());
        assert!(
            !text.contains(env!("CARGO_MANIFEST_DIR")),
            "a path of this machine"
        );
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&read["bomFormat"], &read["specVersion"]),
            (&json!("CycloneDX"), &json!("1.5"))
        );
        let root = &read["metadata"]["component"];
        assert_eq!(root["name"], program.package());
        let components = read["components"].as_array().unwrap();
        let mut known = BTreeSet::from([root["bom-ref"].as_str().unwrap()]);
        for component in components {
            let named = component["bom-ref"].as_str().unwrap();
            assert!(known.insert(named), "{named} is there twice");
            let licence = component["licenses"][0]["expression"].as_str().unwrap();
            assert!(
                !licence.is_empty() && !licence.contains('/'),
                "{named}: {licence}"
            );
            let Some(id) = of_component(component) else {
                continue;
            };
            let checksum = component["hashes"][0]["content"].as_str();
            assert_eq!(checksum, pinned.get(&id).map(String::as_str), "{named}");
            assert!(
                checksum.is_some() || id.0.starts_with("lifecycle-"),
                "{named}"
            );
        }
        for edge in read["dependencies"].as_array().unwrap() {
            let needs = edge["dependsOn"].as_array().unwrap().iter();
            for end in needs.chain([&edge["ref"]]) {
                assert!(
                    known.contains(end.as_str().unwrap()),
                    "{end} is no component"
                );
            }
        }
        let has = |name: &&str| components.iter().any(|one| one["name"] == **name);
        assert!(INSIDE.iter().all(has), "{program:?}");
        assert!(!OUTSIDE.iter().any(has), "{program:?}");
    }
}

#[test]
fn the_licences_name_every_crate_of_an_image() {
    for program in PROGRAMS {
        let bill = read(program);
        let text = bill.licences().unwrap();
        assert_eq!(text, bill.licences().unwrap());
        for ((name, version), found) in &bill.crates {
            let line = format!("  {name} {version}: {}", found.licence);
            assert!(text.contains(&line), "{program:?} does not name {line}");
        }
        assert!(text.contains("Apache License") && text.contains("Permission is hereby granted"));
        assert!(
            !text.contains(env!("CARGO_MANIFEST_DIR")),
            "a path of this machine"
        );
    }
}
