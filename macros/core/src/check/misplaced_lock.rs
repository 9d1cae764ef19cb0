//! A `lock` or a section `retired` has no subject. A volume has no object that stays: its calls
//! undo everything that they made. A lifecycle has one lock, and a section `retired` is not empty.
//!
//! ```text
//! volume Disk;  lock "disk.lock";      // refused: what a volume leaves, its calls take back
//! retired { }                          // refused: it says nothing
//! ```

use proc_macro2::Span;

use crate::ast::{Kind, Lifecycle};
use crate::errors::{Diagnostic, Sink};
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC170",
    name: "misplaced_lock",
    group: Group::Records,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// Checks the line and the section.
pub(crate) fn check(ast: &Lifecycle, sink: &mut Sink) {
    if ast.kind == Kind::Volume {
        let of_volume = |span: Span, item: &'static str| {
            let what = format!("`{item}` is not for a volume: what it leaves, its calls take back");
            RULE.finding(span, item, what).help("leave it out")
        };
        let lock = ast.lock.iter().map(|lock| of_volume(lock.span, "lock"));
        let retired = ast.retired.iter();
        let retired = retired.map(|retired| of_volume(retired.span, "retired"));
        lock.chain(retired).for_each(|found| sink.push(found));
        return;
    }
    let looked_at = ast.inputs.iter().any(|input| input.retired.is_some());
    let empty = ast.retired.as_ref().filter(|retired| {
        let says = !retired.lines.is_empty() || looked_at;
        !says && ast.taint.names.is_empty() && !ast.taint.everything
    });
    if let Some(retired) = empty {
        let what = "`retired` is empty";
        let help = "name what an older version had, `condition Hung;`, or leave the section out";
        sink.push(RULE.finding(retired.span, "retired", what).help(help));
    }
}

/// A second lock.
pub(crate) fn twice(span: Span, first: Span) -> Diagnostic {
    RULE.finding(
        span,
        "lock",
        "a lifecycle has one `lock`, and this is the second",
    )
    .note(first, "the first is named here")
    .help("leave out one of the two")
}
