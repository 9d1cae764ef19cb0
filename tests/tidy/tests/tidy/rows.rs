//! Pages that name a test for each row: the uncovered rows, and the check that the pages are up to
//! date. `BLESS=1` writes them.

use std::fs;

use lifecycle_tidy::{acceptance, contract};

use crate::{TREE, none, root};

#[test]
fn the_tables_of_rows_and_of_threats_name_their_tests() {
    none(acceptance::unshown(&TREE));
    is_current("docs/skupper.md", acceptance::outdated(&TREE));
}

#[test]
fn the_page_of_the_contract_names_a_test_for_each_row() {
    none(contract::findings(&TREE));
    let rows = TREE.text(contract::ROWS).expect("the rows are listed");
    let seeded = TREE.with_file(contract::ROWS, &format!("{rows}B99 | without a test\n"));
    let found = contract::findings(&seeded);
    assert_eq!(found.len(), 1, "the search proves nothing: {found:?}");
    is_current(contract::PAGE, contract::outdated(&TREE));
}

#[track_caller]
fn is_current(document: &str, wanted: Option<String>) {
    let Some(wanted) = wanted else {
        return;
    };
    let blessed = std::env::var_os("BLESS");
    let written = blessed.and_then(|_| fs::write(root().join(document), wanted).ok());
    assert!(
        written.is_some(),
        "{document} is not up to date: run this test with BLESS=1"
    );
}
