//! Seeded bugs in the directory driver, each found by the suite and named.

use std::path::Path;
use std::sync::Arc;

use lifecycle_csi::{Driver, Plugin, Volumes};
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use lifecycle_tests::volumes::disk::Disk;
use lifecycle_tests::volumes::seeded::{Mistake, seeded};
use lifecycle_tests::volumes::{NAME, NODE, Places, mount, provisioning, suites};

pub(crate) fn cases() -> Vec<Case> {
    named![calculation(): a_file_that_is_left_is_found, a_file_of_another_owner_is_found, a_memory_that_a_crash_takes_away_is_found]
}

/// The first finding about the directory driver with a mistake.
fn of_directory(mistake: Mistake) -> String {
    let suite = suites::directory_of(Arc::new(move |folder: &Path| {
        let places = Places::inside(folder);
        let disk = Arc::new(Disk::new(places.disk));
        let plugin = Plugin::new(NAME, "1.0").with_controller();
        let made = provisioning::machine(provisioning::Provisioner(Arc::clone(&disk)));
        let mounts = seeded(mount::machine(mount::Mounter(disk)), mistake);
        let controller = Driver::controller(plugin.clone(), "c.sock");
        let node = Driver::node(plugin, "n.sock", NODE);
        vec![
            Volumes::new(NAME)
                .serve(made, controller)
                .serve(mounts, node),
        ]
    }));
    let report = suite.most_findings(1).run().expect("it begins");
    report.findings.first().cloned().unwrap_or_default()
}

#[track_caller]
fn check(found: &str, expected: &str) {
    assert!(found.contains(expected), "{found}");
}

fn a_file_that_is_left_is_found() {
    let expected = "at the end: `pods/0/volume/old` is there";
    check(&of_directory(Mistake::Leaves), expected);
}

fn a_file_of_another_owner_is_found() {
    let expected =
        "it touches what is not its own, while it is mounted: `pods/0/volume/vol_data.json`";
    check(&of_directory(Mistake::Touches), expected);
}

fn a_memory_that_a_crash_takes_away_is_found() {
    let found = of_directory(Mistake::Remembers);
    check(&found, "crash-");
    check(
        &found,
        "Unstage never ends well: Internal effect `unstage` ran 10 times in this call and its result never showed",
    );
}
