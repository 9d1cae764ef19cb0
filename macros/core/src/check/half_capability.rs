//! One call of a pair is declared and the other is not. A capability of the Container Storage
//! Interface covers both of them. Capabilities follow from the declared calls, so nothing could be
//! advertised.
//!
//! ```text
//! NodeStageVolume -> staged by stage { .. }                // refused alone
//! NodeStageVolume -> staged by stage { .. } NodeUnstageVolume;
//! ```

use crate::csi::Rpc;
use crate::errors::Sink;
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC083",
    name: "half_capability",
    group: Group::Calls,
    severity: Severity::Error,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let calls = &context.lifecycle.calls;
    let declared = |rpc: Rpc| calls.iter().find(|call| call.rpc == rpc);
    let pairs = Rpc::ALL
        .iter()
        .filter_map(|rpc| Some((*rpc, rpc.demands().undone_by?)));
    for (makes, undoes) in pairs {
        let (call, missing) = match (declared(makes), declared(undoes)) {
            (Some(call), None) => (call, undoes),
            (None, Some(call)) => (call, makes),
            (Some(_), Some(_)) | (None, None) => continue,
        };
        let (name, missing) = (call.rpc.name(), missing.name());
        sink.push(
            RULE.finding(
                call.name.span(),
                name,
                format!("`{name}` without `{missing}`"),
            )
            .help(format!(
                "declare `{missing}` too; without a target, `{missing};`, it is OK as it is"
            )),
        );
    }
}
