//! `State` and its classification: a const function of the facts.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::facts::{field_name, field_type, is_bool, values};
use crate::model::{Kind, Lifecycle, Origin, Pred, PredKind, ValueSet, VarId};

/// ```text
/// pub enum State { NoName, .. }
/// impl State { pub const fn classify(facts: &Facts) -> Self { if matches!(facts.class, Named::Unnamed) { return Self::NoName; } .. } }
/// ```
pub(crate) fn expand(model: &Lifecycle) -> TokenStream {
    let implicit = implicit(model);
    let (implicit_names, implicit_docs): (Vec<_>, Vec<_>) =
        implicit.iter().map(|s| (&s.name, s.doc)).unzip();
    let implicit_tests = implicit.iter().map(|s| &s.test);
    let names: Vec<_> = model.states.iter().map(|s| &s.name).collect();
    let docs = model.states.iter().map(|s| {
        if s.doc.is_empty() {
            format!("The state `{}`.", s.name)
        } else {
            s.doc.clone()
        }
    });
    let (last, others) = names
        .split_last()
        .map_or((None, &[][..]), |(last, others)| (Some(last), others));
    let tests = model
        .states
        .iter()
        .take(others.len())
        .map(|s| predicate(model, &s.when));
    let end = last.map_or_else(|| quote!(loop {}), |last| quote!(Self::#last));
    quote! {
        /// State of an object in its lifecycle. The first state that matches counts.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(clippy::enum_variant_names, reason = "names are those of the declaration")]
        pub enum State {
            #(#[doc = #implicit_docs] #implicit_names,)*
            #(#[doc = #docs] #names,)*
        }

        impl State {
            /// The one state of a world.
            pub const fn classify(facts: &Facts) -> Self {
                #(if #implicit_tests { return Self::#implicit_names; })*
                #(if #tests { return Self::#others; })*
                #end
            }
        }
    }
}

struct Implicit {
    name: Ident,
    doc: &'static str,
    test: TokenStream,
}

/// Returns the implicit states that come first: `Deleting`, and `Refused` of effects that no state
/// mentions.
fn implicit(model: &Lifecycle) -> Vec<Implicit> {
    let mut all = Vec::new();
    if model
        .vars
        .iter()
        .any(|v| matches!(v.origin, Origin::Deleting))
    {
        let doc = "The object is being deleted: what is held is given back.";
        all.push(Implicit {
            name: format_ident!("Deleting"),
            doc,
            test: quote!(facts.deleting),
        });
    }
    // A call answers a refusal itself.
    let effects = match model.kind {
        Kind::Resource => &model.effects[..],
        Kind::Volume => &[],
    };
    let silent: Vec<_> = effects
        .iter()
        .filter(|e| !model.states.iter().any(|s| mentions(&s.when, e.refused)))
        .collect();
    if !silent.is_empty() {
        let fields = silent.iter().map(|e| field_name(&model.vars[e.refused.0]));
        let doc = "A write was refused that no state mentions.";
        all.push(Implicit {
            name: format_ident!("Refused"),
            doc,
            test: quote!(#(facts.#fields)||*),
        });
    }
    all
}

fn mentions(pred: &Pred, var: VarId) -> bool {
    match &pred.kind {
        PredKind::Is { var: v, .. } => *v == var,
        PredKind::All(of) | PredKind::Any(of) => of.iter().any(|p| mentions(p, var)),
        PredKind::Not(p) => mentions(p, var),
    }
}

/// A predicate as an expression over `facts`.
fn predicate(model: &Lifecycle, pred: &Pred) -> TokenStream {
    match &pred.kind {
        PredKind::Is { var, values } => is(model, *var, *values),
        PredKind::All(all) => {
            let all = all.iter().map(|p| predicate(model, p));
            quote!((true #(&& #all)*))
        }
        PredKind::Any(any) => {
            let any = any.iter().map(|p| predicate(model, p));
            quote!((false #(|| #any)*))
        }
        PredKind::Not(p) => {
            let p = predicate(model, p);
            quote!(!#p)
        }
    }
}

/// `facts.site`, `!facts.site` or `matches!(facts.class, Named::Absent)`.
pub(crate) fn is(model: &Lifecycle, var: VarId, set: ValueSet) -> TokenStream {
    let declared = &model.vars[var.0];
    let field = field_name(declared);
    if is_bool(declared) {
        return match (set.contains(0), set.contains(1)) {
            (false, true) => quote!(facts.#field),
            (true, false) => quote!(!facts.#field),
            (both, _) => quote!(#both),
        };
    }
    let ty = field_type(model, declared);
    let names = values(declared)
        .into_iter()
        .enumerate()
        .filter(|(i, _)| set.contains(*i))
        .map(|(_, name)| name);
    quote!(matches!(facts.#field, #(#ty::#names)|*))
}
