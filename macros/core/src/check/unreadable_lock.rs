//! The file that `lock` names cannot be read, or a line of it is no item of a lock, mostly because
//! of a merge conflict. The leftovers of an older version are then unknown. The path is relative to
//! the source file.
//!
//! ```text
//! lock "listener.lock";      // refused while there is no such file: `lifecycle-operator lock src/listener.rs` writes it
//! ```

use crate::ast::LockText;
use crate::errors::Sink;
use crate::lock;
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::Space;

pub(super) const RULE: Rule = Rule {
    code: "LC172",
    name: "unreadable_lock",
    group: Group::Records,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Worlds(check),
};

fn check(space: &Space<'_>, sink: &mut Sink) {
    let Some(locked) = &space.lifecycle.lock else {
        return;
    };
    let (path, span) = (&locked.path, locked.span);
    match &locked.text {
        LockText::Unread => {}
        LockText::Unreadable(why) => {
            let message = format!("the lock `{path}` cannot be read: {why}");
            let help = "write it with `lifecycle-operator lock FILE.rs`, with the file of this lifecycle, and keep it beside that file";
            sink.push(RULE.finding(span, "lock", message).help(help));
        }
        LockText::Read(text) => {
            if let Err((number, line)) = lock::read(text) {
                let message = format!("line {number} of the lock `{path}` is no item: `{line}`");
                let help = "put the lock of the last release there, and write it anew by `lifecycle-operator lock FILE.rs`";
                sink.push(RULE.finding(span, "lock", message).help(help));
            }
        }
    }
}
