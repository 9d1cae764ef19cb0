//! Every single change of a declaration: refused, met by authors, seen when it runs, or the same. First those of the Listener, each with its reason; then
//! those of the resources of `docs/gallery.md`.

pub(crate) mod counted;
mod gallery;
mod harmless;
mod judged;
mod table;

use lifecycle_macros_core::check;
use lifecycle_macros_core::errors::{Diagnostic, Severity};
use lifecycle_random::meant::Compiled;
use lifecycle_random::mutants::{Source, mutants};

use gallery::text_of;
use harmless::HARMLESS;
use table::Table;

/// How many mutants of the Listener there are at least.
const MANY: usize = 300;

fn findings(source: &Source) -> Vec<Diagnostic> {
    check(source.body().parse().expect("mutants consist of tokens")).diagnostics
}

fn render_finding(finding: &Diagnostic) -> String {
    format!("{} {}", finding.code, finding.message)
}

/// Every mutant of the Listener is refused, or is listed as harmless with the reason.
pub(crate) fn every_mutant_of_the_listener_is_refused_or_harmless_for_a_reason() {
    let listener = Source::parse(&text_of("listener"));
    let compiled = Compiled::compile(listener.body()).expect("it has no findings");
    assert!(!compiled.is_warned, "the lifecycle itself has findings");
    let met = compiled.met();
    let (mut wrong, mut accepted, mut all) = (Vec::new(), 0, 0);
    let mut table = Table::new(&["`check` refuses", "rustc meets other types", "neither"]);
    for mutant in mutants(&listener, &compiled.caused()) {
        let (name, findings) = (&mutant.name, findings(&mutant.source));
        let mut listed = HARMLESS.iter();
        let listed = listed.find(|(_, names)| names.contains(&name.as_str()));
        let error = findings.iter().find(|one| one.severity == Severity::Error);
        match (error, listed) {
            (Some(error), Some(_)) => {
                wrong.push(format!("{name}: is refused: {}", render_finding(error)))
            }
            (None, None) => wrong.push(format!("{name}: is accepted for no listed reason")),
            (Some(_), None) | (None, Some(_)) => {}
        }
        let nameless = findings.iter().find(|one| !one.message.contains('`'));
        wrong.extend(nameless.map(|one| format!("{name}: names nothing: {}", render_finding(one))));
        all += 1;
        accepted += usize::from(error.is_none());
        let column = match Compiled::compile(mutant.source.body()) {
            Err(_) => 0,
            Ok(other) if other.met() != met => 1,
            Ok(_) => 2,
        };
        let (section, what) = mutant.section_and_kind();
        table.count(&[section, what], column);
    }
    assert!(all > MANY, "only {all} mutants");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let listed: usize = HARMLESS.iter().map(|(_, names)| names.len()).sum();
    assert_eq!(accepted, listed, "a listed mutant does not exist");
    table.hold("mutants of a declaration", &["section", "change"]);
}
