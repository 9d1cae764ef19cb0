//! A fact reads one or more fields of the request that no call of the volume carries together. It
//! is never evaluated, and has its first value for ever. A volume without calls receives no
//! requests.
//!
//! ```text
//! volume Scratch;
//! facts { writable: { Yes, No } from request.readonly; }   // refused: only `NodePublishVolume` says it
//! rpc   { NodeStageVolume -> Ready by make { .. } NodeUnstageVolume -> Free by remove { .. } }
//! ```
//!
//! Declare a call that carries the field, or ask for something else.

use crate::csi::{RequestField, Rpc};
use crate::errors::{Diagnostic, Sink};
use crate::model::{Lifecycle, Origin, Source, Use, Var};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC118",
    name: "uncarried_field",
    group: Group::Calls,
    severity: Severity::Error,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    if lifecycle.calls.is_empty() {
        return;
    }
    for var in &lifecycle.vars {
        let Origin::Fact { from, .. } = &var.origin else {
            continue;
        };
        let fields: Vec<(RequestField, &Use)> = from.iter().filter_map(field).collect();
        if !fields.is_empty() && !lifecycle.calls.iter().any(|call| carries(call.rpc, from)) {
            sink.push(uncarried(lifecycle, var, &fields));
        }
    }
}

fn field(one: &Use) -> Option<(RequestField, &Use)> {
    match one.source {
        Source::Field(field) => Some((field, one)),
        Source::This | Source::Request | Source::Input(_) | Source::Value(_) | Source::Fact(_) => {
            None
        }
    }
}

fn carries(rpc: Rpc, from: &[Use]) -> bool {
    let mut fields = from.iter().filter_map(field);
    fields.all(|(field, _)| rpc.demands().has_field(field))
}

fn uncarried(lifecycle: &Lifecycle, var: &Var, fields: &[(RequestField, &Use)]) -> Diagnostic {
    let name = &var.name;
    let declared = |field: RequestField| {
        let mut calls = lifecycle.calls.iter();
        calls.any(|call| call.rpc.demands().has_field(field))
    };
    let alone = fields.iter().find(|(field, _)| !declared(*field));
    let (wanted, at) = match alone {
        Some((field, at)) => (format!("`request.{}`", field.name()), at),
        None => {
            let all = fields.iter().map(|(field, _)| field.name());
            let all: Vec<String> = all.map(|name| format!("`request.{name}`")).collect();
            (format!("{} at once", all.join(" and ")), &fields[0].1)
        }
    };
    let first = var.values.first().map_or("", String::as_str);
    let message = format!(
        "fact `{name}`: no call of `{}` carries {wanted}, so it is `{first}` for ever",
        lifecycle.name
    );
    RULE.finding(at.name.span(), name.to_string(), message)
        .help(help(fields, alone.is_some()))
}

fn help(fields: &[(RequestField, &Use)], is_one: bool) -> String {
    let callers = |field: RequestField| {
        let callers = field.callers().into_iter();
        let callers: Vec<String> = callers.map(|rpc| format!("`{}`", rpc.name())).collect();
        format!("`{}` is carried by {}", field.name(), callers.join(", "))
    };
    let all: Vec<String> = fields.iter().map(|(field, _)| callers(*field)).collect();
    match is_one {
        true => format!(
            "{}: declare such a call, or ask for something else",
            all.join("; ")
        ),
        false => format!("{}: make a fact of each", all.join("; ")),
    }
}
