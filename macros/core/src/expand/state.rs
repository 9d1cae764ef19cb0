//! `State` and its classification: a const function of the facts.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::facts::{field_name, field_type, is_bool, values};
use crate::ast::bare;
use crate::model::{
    Kind, Lifecycle, Origin, Phase, Pred, PredKind, RegionId, State, ValueSet, VarId,
};

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
    let body = classify(model);
    let regions = (!model.regions.is_empty()).then(|| regions(model, &implicit));
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
                #body
            }

            #regions
        }
    }
}

/// Returns the statements that find the state, behind the implicit ones.
fn classify(model: &Lifecycle) -> TokenStream {
    let root = model.states.iter().filter(|state| state.region.is_none());
    let root: Vec<&State> = root.collect();
    let regions = (0..model.regions.len()).map(RegionId);
    let counts = |region: &RegionId| model.regions[region.0].counts;
    let counting: Vec<RegionId> = regions.clone().filter(counts).collect();
    let leading = match counting.is_empty() {
        true => regions.collect(),
        false => counting,
    };
    let mut leading = leading.into_iter();
    let Some(first) = leading.next() else {
        return first_of(model, &root);
    };
    let (tests, names) = tests(model, &root);
    let first = classifier(model, first);
    let others = leading.map(|one| classifier(model, one));
    quote! {
        #(if #tests { return Self::#names; })*
        let state = Self::#first(facts);
        #(let state = state.further(Self::#others(facts));)*
        state
    }
}

/// ```text
/// pub const fn classify_backup(facts: &Facts) -> Self { .. }
/// const fn further(self, other: Self) -> Self { .. }
/// const fn distance(self) -> u8 { match self { Self::Failed => 2, .. } }
/// ```
fn regions(model: &Lifecycle, implicit: &[Implicit]) -> TokenStream {
    let each = model.regions.iter().enumerate().map(|(at, region)| {
        let id = RegionId(at);
        let states = model.states.iter().filter(|state| state.region == Some(id));
        let body = first_of(model, &states.collect::<Vec<_>>());
        let name = classifier(model, id);
        let doc = format!(
            "The state of region `{}`, if no state of the root holds.",
            region.name
        );
        quote! {
            #[doc = #doc]
            pub const fn #name(facts: &Facts) -> Self {
                #body
            }
        }
    });
    let distances = model.states.iter().map(|state| {
        let name = &state.name;
        let distance: u8 = match (state.goal, state.phase) {
            (true, _) => 0,
            (false, Some(Phase::Error)) => 2,
            (false, _) => 1,
        };
        quote!(Self::#name => #distance)
    });
    let implicit = implicit.iter().map(|state| &state.name);
    quote! {
        #(#each)*

        /// Of the states of two regions, the one that is further from its goal.
        #[allow(dead_code, reason = "one region alone is compared with none")]
        const fn further(self, other: Self) -> Self {
            if other.distance() > self.distance() { other } else { self }
        }

        const fn distance(self) -> u8 {
            match self { #(Self::#implicit => 0,)* #(#distances,)* }
        }
    }
}

/// The method that returns the state of a region.
pub(super) fn classifier(model: &Lifecycle, region: RegionId) -> Ident {
    let name = &model.regions[region.0].name;
    format_ident!("classify_{}", bare(name), span = name.span())
}

/// Returns the tests for states, each with the name of its state.
fn tests<'a>(model: &Lifecycle, states: &[&'a State]) -> (Vec<TokenStream>, Vec<&'a Ident>) {
    let tests = states
        .iter()
        .map(|state| (predicate(model, &state.when), &state.name));
    tests.unzip()
}

/// Returns the statements that find the first of these states that fits. The last one fits where no
/// other does.
fn first_of(model: &Lifecycle, states: &[&State]) -> TokenStream {
    let Some((last, others)) = states.split_last() else {
        return quote!(loop {});
    };
    let (tests, names) = tests(model, others);
    let last = &last.name;
    quote! {
        #(if #tests { return Self::#names; })*
        Self::#last
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
