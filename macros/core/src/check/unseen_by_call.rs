//! The target or a refusal of a call, or the `when` of an effect in its `by`, evaluates a fact that
//! the call cannot see. Its request does not carry the source of that fact. A call that tears down
//! carries the volume and the path, but no capability and no context. Only a call to the node can
//! probe. A fact that an effect `sets` may be unseen, as long as no predicate of the call reads it.
//!
//! A fact of the request alone, or of fields of it, may be evaluated everywhere. If the request
//! does not carry the value, the fact has its first value.
//!
//! ```text
//! pod: part Pod by ref from request;                       // from the context of the volume
//! NodeUnpublishVolume -> pod == Absent by unlabel;         // refused: that call has no context
//! ```

use std::collections::BTreeSet;

use crate::csi::Rpc;
use crate::errors::{Diagnostic, Sink};
use crate::model::visibility::{Blind, Unseen};
use crate::model::{Call, Lifecycle, Meaning, Target, VarId};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::calls::{CallDrive, Called, target};

pub(super) const RULE: Rule = Rule {
    code: "LC086",
    name: "unseen_by_call",
    group: Group::Calls,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Calls(check),
};

fn check(called: &Called<'_>, sink: &mut Sink) {
    for drive in &called.drives {
        let mut seen: BTreeSet<VarId> = BTreeSet::new();
        for blind in blinds(called, drive) {
            if seen.insert(blind.var) {
                sink.push(diagnose(called.space.lifecycle, drive.call, &blind));
            }
        }
    }
}

fn blinds(called: &Called<'_>, drive: &CallDrive<'_>) -> Vec<Blind> {
    let (space, call) = (called.space, drive.call);
    let mut found = Vec::new();
    // A volume before its creation has no id. Therefore nothing is found by it, and no
    // precondition can apply because of it.
    if call.rpc != Rpc::CreateVolume {
        for (precondition, _) in call.rpc.demands().preconditions {
            let mut preconditions = space.lifecycle.preconditions.iter();
            if let Some(Meaning::When(when)) = preconditions
                .find(|one| one.precondition == *precondition)
                .map(|one| &one.meaning)
            {
                found.extend(drive.visibility.unseen(when));
            }
        }
    }
    for refusal in &call.refusals {
        found.extend(drive.visibility.unseen(&refusal.when));
    }
    for (effect, _) in &call.by {
        if let Some(when) = &space.lifecycle.effects[effect.0].when {
            found.extend(drive.visibility.unseen(when));
        }
    }
    for pred in target(space, &call.target) {
        for mut blind in drive.visibility.unseen(pred) {
            if let Target::State(_, span) = call.target {
                blind.span = span;
            }
            found.push(blind);
        }
    }
    found
}

fn diagnose(lifecycle: &Lifecycle, call: &Call, blind: &Blind) -> Diagnostic {
    let (name, fact) = (&call.name, &lifecycle.vars[blind.var.0].name);
    let why = match &blind.why {
        Unseen::Probe(_) => "its process does not have what it is read from",
        Unseen::Field(_) | Unseen::Unsaid(_) | Unseen::Content(_) => {
            "its request does not carry what it is read from"
        }
    };
    let help = match &blind.why {
        Unseen::Probe(input) => format!(
            "`{}` is probed on the node; ask for what a controller can see",
            lifecycle.inputs[input.0].name
        ),
        Unseen::Field(field) => {
            format!("it is found by `request.{field}`; {}", carried(call))
        }
        Unseen::Unsaid(field) => {
            let field = field.name();
            format!("it reads `request.{field}`; {}", carried(call))
        }
        Unseen::Content(item) => format!(
            "`{item}` is taken from the request, which has no capability and no context here; {}",
            carried(call)
        ),
    };
    let message = format!("`{name}` cannot see `{fact}`: {why}");
    RULE.finding(blind.span, name.to_string(), message)
        .help(help)
}

fn carried(call: &Call) -> String {
    let fields = call.rpc.demands().fields.iter();
    let names: Vec<String> = fields.map(|field| format!("`{}`", field.name)).collect();
    format!(
        "the request of `{}` carries {}",
        call.name,
        names.join(", ")
    )
}
