//! The calls of a volume as data: all that a driver has to know of the interface and of the declaration, by position.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::literals::{option, pred};
use crate::csi::{Code, Field, REPLY_OF_CREATE, Rpc};
use crate::hygiene::private;
use crate::model::frames::Frames;
use crate::model::visibility::Visibility;
use crate::model::{Call, InputId, Lifecycle, Meaning, Refusal, Target, VarId};

/// ```text
/// ir::Call { rpc: ir::Rpc::NodeStageVolume, preconditions: &[ir::Precondition { .. }], target: ir::Target::State(1), by: &[0], .. }
/// ```
pub(super) fn expand(model: &Lifecycle, frames: &Frames) -> Vec<TokenStream> {
    let calls = model.calls.iter();
    calls.map(|one| call(model, frames, one)).collect()
}

/// The name of the method that makes the reply with content, where some call has one.
pub(super) fn reply(model: &Lifecycle) -> Option<Ident> {
    let mut calls = model.calls.iter();
    let created = calls.find(|call| call.rpc == Rpc::CreateVolume)?;
    Some(Ident::new(REPLY_OF_CREATE, created.name.span()))
}

/// `fn created_volume(&self, seen: &Seen<'_>) -> CreatedVolume;`
pub(super) fn reply_method(model: &Lifecycle) -> Option<TokenStream> {
    let (private, name) = (private(), reply(model)?);
    Some(quote! {
        #[doc = "The volume that `CreateVolume` answers with; equal requests give equal volumes."]
        fn #name(&self, seen: &Seen<'_>) -> #private::CreatedVolume;
    })
}

fn call(model: &Lifecycle, frames: &Frames, call: &Call) -> TokenStream {
    let demands = call.rpc.demands();
    let (rpc, doc, on_node) = (
        format_ident!("{}", call.rpc.name()),
        &call.doc,
        demands.on_node,
    );
    let fields = demands.fields.iter().map(field);
    let key = demands.key;
    let preconditions = preconditions(model, call);
    let target = target(&call.target);
    let refusals = call.refusals.iter().map(refusal);
    let by = call.by.iter().map(|(effect, _)| effect.0);
    let within = option(call.within.as_ref().map(|within| {
        let (time, code) = (within.time, code(within.code));
        quote!(ir::Within { time: #time, code: #code })
    }));
    let undone_by = demands.undone_by;
    let opposite = model.calls.iter().position(|other| {
        undone_by == Some(other.rpc) || other.rpc.demands().undone_by == Some(call.rpc)
    });
    let opposite = option(opposite);
    let visibility = Visibility::new(model, frames, call.rpc);
    let inputs: BTreeSet<usize> = (0..model.inputs.len())
        .filter(|input| !visibility.finds(InputId(*input)))
        .collect();
    let vars = (0..model.vars.len()).filter(|var| !visibility.answers(VarId(*var)));
    let (inputs, vars) = (inputs.into_iter(), vars);
    quote!(ir::Call {
        rpc: ir::Rpc::#rpc, doc: #doc, on_node: #on_node, fields: &[#(#fields),*], key: &[#(#key),*], preconditions: &[#(#preconditions),*],
        target: #target, refusals: &[#(#refusals),*], by: &[#(#by),*], within: #within, opposite: #opposite,
        unseen_inputs: &[#(#inputs),*], unseen_vars: &[#(#vars),*],
    })
}

fn field(field: &Field) -> TokenStream {
    let (name, required, limit) = (field.name, field.required, option(field.content.limit()));
    quote!(ir::RequestField { name: #name, required: #required, limit: #limit })
}

/// Returns the preconditions that may apply, in order of evaluation.
fn preconditions(model: &Lifecycle, call: &Call) -> Vec<TokenStream> {
    let asked = call.rpc.demands().preconditions.iter();
    asked
        .filter_map(|(precondition, answer)| {
            let mut declared = model.preconditions.iter();
            let declared = declared.find(|declared| declared.precondition == *precondition)?;
            let Meaning::When(when) = &declared.meaning else {
                return None;
            };
            let (name, code, when) = (precondition.name(), code(*answer), pred(when));
            Some(quote!(ir::Precondition { name: #name, code: #code, when: #when }))
        })
        .collect()
}

fn target(target: &Target) -> TokenStream {
    match target {
        Target::Nothing => quote!(ir::Target::Nothing),
        Target::State(state, _) => quote!(ir::Target::State(#state)),
        Target::Pred(when) => {
            let when = pred(when);
            quote!(ir::Target::Pred(#when))
        }
    }
}

fn refusal(refusal: &Refusal) -> TokenStream {
    let (when, code, why) = (
        pred(&refusal.when),
        code(refusal.code),
        option(refusal.why.as_ref()),
    );
    quote!(ir::Refusal { when: #when, code: #code, why: #why })
}

fn code(code: Code) -> TokenStream {
    let name = format_ident!("{code:?}");
    quote!(ir::Code::#name)
}
