//! A lifecycle that is split into a fragment and the rest keeps its findings and worlds, for the
//! checker and the oracle.

use std::collections::BTreeSet;

use lifecycle_oracle::answer::answer;
use lifecycle_oracle::findings::Finding;
use lifecycle_oracle::random::cut::cut;
use lifecycle_oracle::random::draw;

use super::compare::{checked, differ};
use super::corpus::{fan_out, number_from};

/// Outcome of cutting one lifecycle.
enum Cut {
    /// Nothing of it could go.
    Whole,
    /// The meaning is unchanged.
    Same,
    /// How it differs.
    Differs(String),
}

#[test]
fn a_lifecycle_that_is_cut_means_what_it_meant() {
    let (first, count) = (number_from("FIRST", 0), number_from("LIFECYCLES", 1_500));
    let all = fan_out((first..first + count).collect(), compare_cut);
    let same = all.iter().filter(|one| matches!(one, Cut::Same)).count();
    let differ: Vec<&String> = all.iter().filter_map(difference_text).collect();
    eprintln!("{same} of {} were cut and mean the same", all.len());
    let shown: Vec<&str> = differ.iter().take(2).map(|text| text.as_str()).collect();
    assert!(
        shown.is_empty(),
        "{} differ\n{}",
        differ.len(),
        shown.join("\n")
    );
    assert!(same * 2 > all.len(), "only {same} were cut");
}

fn difference_text(cut: &Cut) -> Option<&String> {
    match cut {
        Cut::Differs(text) => Some(text),
        Cut::Whole | Cut::Same => None,
    }
}

fn compare_cut(number: u64) -> Cut {
    let whole = draw(number);
    let Some(cut) = cut(&whole, number) else {
        return Cut::Whole;
    };
    let (mut of_whole, mut of_cut) = (answer(&whole, None), answer(&cut, None));
    let offered = of_cut.found.all.clone();
    // The items that a fragment offers need not be queried.
    of_whole.found.all.retain(|one| one.code != "LC167");
    of_cut.found.all.retain(|one| one.code != "LC167");
    // The first reported name of a circle depends on the order, and a cut changes the order.
    if of_whole.found.all.iter().any(|one| one.code == "LC066") {
        return Cut::Whole;
    }
    let told = |text: &str| Cut::Differs(format!("lifecycle {number}: {text}\n{cut}\nof\n{whole}"));
    let meant = (
        &of_whole.found.all,
        of_whole.worlds,
        &of_whole.outline.caused,
    );
    if meant != (&of_cut.found.all, of_cut.worlds, &of_cut.outline.caused) {
        return told(&format!(
            "the oracle found {:?} and finds {:?}",
            codes(&of_whole.found.all),
            codes(&of_cut.found.all)
        ));
    }
    of_cut.found.all = offered;
    let (before, now) = (checked(&whole), checked(&cut));
    let besides = |found: &BTreeSet<Finding>| -> BTreeSet<Finding> {
        let besides = found.iter().filter(|one| one.code != "LC167");
        besides.cloned().collect()
    };
    // The circle is not reported either if the oracle finds a name first.
    if before.iter().chain(&now).any(|one| one.code == "LC066") {
        return Cut::Whole;
    }
    if besides(&before) != besides(&now) {
        return told(&format!(
            "the checker found {:?} and finds {:?}",
            codes(&before),
            codes(&now)
        ));
    }
    match differ(&now, &of_cut) {
        Some(differ) => told(&differ.to_string()),
        None => Cut::Same,
    }
}

fn codes<'a>(found: impl IntoIterator<Item = &'a Finding>) -> Vec<String> {
    let found = found.into_iter();
    found
        .map(|one| format!("{} {}", one.code, one.item))
        .collect()
}
