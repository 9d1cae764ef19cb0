//! What `docs/properties.md` shows is true: its lifecycle is accepted, so is each section in it, and each finding is what one gets.

use super::shipped::body_of;

const PAGE: &str = include_str!("../../../../docs/properties.md");

#[test]
fn play() {
    let (_, rest) = PAGE.split_once("```rust\n").unwrap();
    let checked = lifecycle_macros_core::check(body_of(rest.split_once("```").unwrap().0));
    for d in &checked.diagnostics {
        eprintln!("{d}\n");
    }
    panic!();
}
