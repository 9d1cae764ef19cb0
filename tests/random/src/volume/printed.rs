//! The calls of a volume as the macro prints them, read back as the data that the driver runs.

use lifecycle_runtime::machine::ir;
use proc_macro2::TokenStream;
use syn::Expr;

use super::seeded::SeededCall;
use crate::printed::{
    field, id, list, option, parse_number, pred, read_with, text, truth, variant,
};

/// The `IR` of a volume among the items that the macro expands to.
///
/// # Panics
/// Panics if there is no lifecycle, or it does not have the form that the macro prints. In the
/// latter case this file is outdated.
pub(super) fn read(items: TokenStream, seeded: Option<SeededCall>) -> &'static ir::Lifecycle {
    read_with(items, &|printed| {
        let mut call = call(printed);
        if let Some(seeded) = seeded {
            seeded.call(&mut call);
        }
        call
    })
}

fn call(of: &Expr) -> ir::Call {
    ir::Call {
        rpc: rpc(field(of, "rpc")),
        doc: text(field(of, "doc")),
        on_node: truth(field(of, "on_node")),
        fields: list(field(of, "fields"), |one| ir::RequestField {
            name: text(field(one, "name")),
            required: truth(field(one, "required")),
            limit: option(field(one, "limit"), parse_number),
        }),
        key: list(field(of, "key"), text),
        preconditions: list(field(of, "preconditions"), |one| ir::Precondition {
            name: text(field(one, "name")),
            code: code(field(one, "code")),
            when: pred(field(one, "when")),
        }),
        target: target(field(of, "target")),
        refusals: list(field(of, "refusals"), |one| ir::Refusal {
            when: pred(field(one, "when")),
            code: code(field(one, "code")),
            why: option(field(one, "why"), text),
        }),
        by: list(field(of, "by"), parse_number),
        within: option(field(of, "within"), |within| ir::Within {
            time: parse_number(field(within, "time")),
            code: code(field(within, "code")),
        }),
        opposite: option(field(of, "opposite"), parse_number),
        unseen_inputs: list(field(of, "unseen_inputs"), parse_number),
        unseen_vars: list(field(of, "unseen_vars"), parse_number),
    }
}

fn target(of: &Expr) -> ir::Target {
    let (target, arguments) = variant(of);
    match (target.as_str(), arguments.as_slice()) {
        ("Nothing", []) => ir::Target::Nothing,
        ("State", [state]) => ir::Target::State(id(state)),
        ("Pred", [when]) => ir::Target::Pred(pred(when)),
        (other, _) => panic!("there is no target {other}"),
    }
}

fn rpc(of: &Expr) -> ir::Rpc {
    match variant(of).0.as_str() {
        "CreateVolume" => ir::Rpc::CreateVolume,
        "DeleteVolume" => ir::Rpc::DeleteVolume,
        "ValidateVolumeCapabilities" => ir::Rpc::ValidateVolumeCapabilities,
        "NodeStageVolume" => ir::Rpc::NodeStageVolume,
        "NodeUnstageVolume" => ir::Rpc::NodeUnstageVolume,
        "NodePublishVolume" => ir::Rpc::NodePublishVolume,
        "NodeUnpublishVolume" => ir::Rpc::NodeUnpublishVolume,
        other => panic!("there is no call {other}"),
    }
}

const CODES: [ir::Code; 16] = [
    ir::Code::Cancelled,
    ir::Code::Unknown,
    ir::Code::InvalidArgument,
    ir::Code::DeadlineExceeded,
    ir::Code::NotFound,
    ir::Code::AlreadyExists,
    ir::Code::PermissionDenied,
    ir::Code::ResourceExhausted,
    ir::Code::FailedPrecondition,
    ir::Code::Aborted,
    ir::Code::OutOfRange,
    ir::Code::Unimplemented,
    ir::Code::Internal,
    ir::Code::Unavailable,
    ir::Code::DataLoss,
    ir::Code::Unauthenticated,
];

fn code(of: &Expr) -> ir::Code {
    let name = variant(of).0;
    let code = CODES.into_iter().find(|code| format!("{code:?}") == name);
    code.unwrap_or_else(|| panic!("there is no code {name}"))
}

/// A code as the interface spells it: `FAILED_PRECONDITION`.
pub(super) fn spelled(code: ir::Code) -> String {
    let mut spelled = String::new();
    for letter in format!("{code:?}").chars() {
        if letter.is_uppercase() && !spelled.is_empty() {
            spelled.push('_');
        }
        spelled.push(letter.to_ascii_uppercase());
    }
    spelled
}
