//! Generated suites of volumes: fixtures of the directory driver. This module does not define the
//! rules.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use lifecycle_runtime::provider::Limit;
use lifecycle_suite::volumes::{Fixture, Start, Suite};

use super::client::create;
use super::{Places, operator};

/// The volume of every suite.
pub const VOLUME: &str = "pvc-1";

/// The suite of the directory driver.
pub fn directory() -> Suite {
    directory_of(Arc::new(|folder: &Path| {
        let operator = operator(Places::inside(folder));
        vec![operator.provider("disk", Limit::new().in_flight(1))]
    }))
}

/// The suite of the directory driver, started in another way.
pub fn directory_of(start: Start) -> Suite {
    let files = [
        ("pods/9/volume/mount/kept", "of another Pod"),
        ("pods/0/volume/vol_data.json", "{}"),
        ("staging.other/kept", "of another volume"),
    ];
    Suite::new("directory", start).fixture(Fixture {
        name: "two Pods",
        stays: Vec::new(),
        goes: Vec::new(),
        others: Vec::new(),
        files: named(&files),
        own: vec!["disk".to_owned()],
        create: create(VOLUME),
        written: Arc::new(|_| Vec::new()),
        pods: vec![BTreeMap::new(), BTreeMap::new()],
        around: None,
        brief: false,
    })
}

/// Texts by their names.
pub fn named(all: &[(&str, &str)]) -> BTreeMap<String, String> {
    let all = all.iter();
    all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// Checks that a suite finds nothing, in at least this many schedules, and that every call was
/// made.
#[track_caller]
pub fn passes(suite: &Suite, schedules: usize) {
    let report = suite.run().expect("nothing disturbs the first");
    eprintln!("{report}");
    assert!(report.findings.is_empty(), "{report}");
    assert!(report.schedules >= schedules, "{report}");
    assert!(!report.coverage.contains("never asked"), "{report}");
}
