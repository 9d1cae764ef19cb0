//! Generated suites of volumes. A volume reaches the same end under any disturbance of its life,
//! and seeded bugs are found.

mod seeded;
mod socket;

use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use lifecycle_tests::volumes::suites::{self, passes};

pub(crate) fn cases() -> Vec<Case> {
    let own = named![calculation(): nothing_changes_where_a_directory_volume_ends];
    let cases = [own, seeded::cases(), socket::cases()];
    cases.into_iter().flatten().collect()
}

fn nothing_changes_where_a_directory_volume_ends() {
    passes(&suites::directory(), 180);
}
