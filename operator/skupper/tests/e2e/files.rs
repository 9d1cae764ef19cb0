//! A site without Kubernetes, as its user has it: a directory with files, the program, and connections to the declared host and port. Every byte is random and compared.

mod conflicts;
mod input;
mod links;
mod support;
mod tokens;
mod traffic;

use lifecycle_tests::harness::Case;

pub(crate) fn cases() -> Vec<Case> {
    let cases = [
        conflicts::cases(),
        input::cases(),
        links::cases(),
        tokens::cases(),
        traffic::cases(),
    ];
    cases.into_iter().flatten().collect()
}
