//! A warning: an `allow` whose warning is not found, or not any more. Leave it out, or correct the item that it names.
//!
//! ```text
//! allow LC064 nodes "its watch wakes the object, and nothing more is asked of it";
//! ```
//!
//! What warns can be allowed, by its code, the item that it names and a reason that stays beside it. What stops the build cannot, for it is proved wrong (LC005).

use crate::ast::Allow;
use crate::errors::{Diagnostic, Severity};
use crate::rule::{Rule, Run, Stage};

pub(crate) const RULE: Rule = Rule {
    code: "LC004",
    name: "needless_allow",
    stage: Stage::Names,
    run: Run::Built,
};

/// Takes away what is allowed, and says which `allow` is about nothing; that only of a lifecycle that is checked to the end.
pub(crate) fn apply(allows: &[Allow], found: &mut Vec<Diagnostic>) {
    let is_checked = found.iter().all(|one| one.severity == Severity::Warning);
    for allow in allows {
        let before = found.len();
        found.retain(|one| one.severity == Severity::Error || !is_about(allow, one));
        if is_checked && found.len() == before {
            let (code, item) = (&allow.code, &allow.item);
            let message = format!("`allow {code} {item}` allows nothing: there is no such warning");
            found.push(
                RULE.warning(code.span(), item.to_string(), message)
                    .help("leave it out"),
            );
        }
    }
    found.sort_by_key(|one| (one.span.start().line, one.span.start().column, one.code));
}

fn is_about(allow: &Allow, found: &Diagnostic) -> bool {
    allow.code == found.code && allow.item == found.item.as_str()
}
