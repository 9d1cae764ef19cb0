//! Skupper sites on a real API server with real routers, by the rows of the acceptance table of `docs/skupper.md`.

mod access;
mod adapted;
mod attached;
mod bad_input;
mod bad_links;
mod certificates;
mod conflicts;
mod events;
mod incomplete;
mod keys;
mod links;
mod objects;
mod one_namespace;
mod orders;
mod outages;
mod restarts;
mod scale;
mod scraped;
mod sizing;
mod status;
mod support;
mod taken_over;
mod templates;
mod traffic;

use lifecycle_tests::harness::Case;

pub(crate) fn cases() -> Vec<Case> {
    let cases = [
        objects::cases(),
        one_namespace::cases(),
        incomplete::cases(),
        conflicts::cases(),
        status::cases(),
        traffic::cases(),
        restarts::cases(),
        outages::cases(),
        events::cases(),
        attached::cases(),
        orders::cases(),
        sizing::cases(),
        taken_over::cases(),
        adapted::cases(),
        templates::cases(),
        bad_input::cases(),
        bad_links::cases(),
        certificates::cases(),
        access::cases(),
        links::cases(),
        keys::cases(),
        scale::cases(),
        scraped::cases(),
    ];
    cases.into_iter().flatten().collect()
}
