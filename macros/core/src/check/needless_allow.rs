//! A warning: an `allow` names a warning that is not found, or not any more. Leave it out, or
//! correct the item that it names.
//!
//! ```text
//! allow LC064 nodes "its watch wakes the object, and nothing more is asked of it";
//! ```
//!
//! A warning can be allowed by its code, the item that it names and a reason that stays beside it.
//! An error stops the build and cannot be allowed, because it is proved wrong (LC005).

use crate::ast::Allow;
use crate::errors::{Diagnostic, Sink};
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(crate) const RULE: Rule = Rule {
    code: "LC004",
    name: "needless_allow",
    group: Group::Syntax,
    severity: Severity::Warning,
    stage: Stage::Graph,
    run: Run::Built,
};

/// Removes the allowed findings, and reports each `allow` without a finding if the lifecycle was
/// checked to the end.
pub(crate) fn apply(allows: &[Allow], sink: &mut Sink) {
    let is_checked = !sink.has_errors();
    for allow in allows {
        let others = sink.items_of(|found| is_of(allow, found));
        let taken = sink.take_away(|found| is_about(allow, found));
        if is_checked && taken == 0 {
            let (code, item) = (&allow.code, &allow.item);
            let message = format!("`allow {code} {item}` has no effect: there is no such warning");
            let help = match others.as_slice() {
                [] => "leave it out".to_owned(),
                others => format!("{code} warns about `{}`", others.join("`, `")),
            };
            sink.push(
                RULE.finding(code.span(), item.to_string(), message)
                    .help(help),
            );
        }
    }
}

fn is_of(allow: &Allow, found: &Diagnostic) -> bool {
    found.severity == Severity::Warning && allow.code == found.code
}

fn is_about(allow: &Allow, found: &Diagnostic) -> bool {
    is_of(allow, found) && allow.item == found.item.as_str()
}
