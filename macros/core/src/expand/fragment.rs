//! Expansion of a fragment: the trait that answers it, the types of its facts and a module that
//! re-exports all of it. Lifecycles fetch its text by a macro.

use proc_macro2::{TokenStream, TokenTree};
use quote::{format_ident, quote};

use super::facts::{declared_enum, type_name};
use super::logic::{self, Methods};
use super::shared::{keeper_alias, key_alias, trait_name, type_alias};
use crate::ast;
use crate::body::hand_over;
use crate::hygiene::private;
use crate::model::{Lifecycle, Lookup, Origin, Var, has_methods};

/// ```text
/// pub enum Reach { .. }
/// pub trait SiteRoom<K: Subject>: Send + Sync + 'static { fn running(&self, this: This<'_, K>, routers: &[&Pod]) -> Because<bool>; .. }
/// pub mod site_room { pub use super::{Reach, SiteRoom, __site_room_routers}; }
/// macro_rules! __site_room { .. }   pub(crate) use __site_room as site_room;
/// ```
pub(super) fn expand(ast: &ast::Fragment, alone: Option<&Lifecycle>) -> TokenStream {
    let (private, name) = (private(), &ast.part.name);
    let (logic, fetched) = (trait_name(name), format_ident!("__{name}"));
    let needed = ast.needed();
    let mut handed = Vec::new();
    let mut items = TokenStream::new();
    // Where it did not resolve, others may implement the trait all the same.
    let mut answers = alone.is_none().then(TokenStream::new);
    if let Some(model) = alone {
        let own: Vec<&Var> = declared(model)
            .filter(|var| !needed.contains(&var.name.to_string()))
            .collect();
        for var in own {
            if let Some(item) = declared_enum(model, var) {
                let ty = type_name(model, var);
                items.extend(item);
                handed.push(quote!(#ty));
            }
        }
        for (alias, item) in aliases(ast, model) {
            items.extend(item);
            handed.push(alias);
        }
        let is_own = |name: &proc_macro2::Ident| !needed.contains(&name.to_string());
        answers =
            has_methods(model, &needed).then(|| methods(logic::methods(model, &is_own, &|_| true)));
    }
    let doc = match ast.part.doc.is_empty() {
        true => format!("What answers for the fragment `{name}`, of any object that uses it."),
        false => ast.part.doc.clone(),
    };
    let answered = answers.map(|methods| {
        handed.push(quote!(#logic));
        quote! {
            #[doc = #doc]
            #[allow(clippy::ptr_arg, reason = "a method gets its input as it was declared")]
            pub trait #logic<K: #private::Subject>: ::std::marker::Send + ::std::marker::Sync + 'static {
                #methods
            }
        }
    });
    let module = format!("What lifecycles take that use the fragment `{name}`.");
    let rules = hand_over(name, &safe(ast, alone));
    quote! {
        #items

        #answered

        #[doc = #module]
        pub mod #name {
            #[allow(unused_imports, reason = "a lifecycle need not use everything")]
            pub use super::{#(#handed),*};
        }

        #[doc(hidden)]
        #[allow(unused_macros, reason = "a fragment need not be used")]
        macro_rules! #fetched { #rules }

        #[allow(unused_imports, reason = "a fragment need not be used")]
        pub(crate) use #fetched as #name;
    }
}

fn methods(methods: Methods) -> TokenStream {
    let Methods {
        lookups,
        polls,
        values,
        facts,
        fields,
    } = methods;
    quote!(#(#lookups)* #(#polls)* #(#values)* #(#facts)* #(#fields)*)
}

fn declared(model: &Lifecycle) -> impl Iterator<Item = &Var> {
    let vars = model.vars.iter();
    vars.filter(|var| matches!(var.origin, Origin::Fact { .. }))
}

/// Returns aliases for names that are resolved at their place in the source: types of inputs and
/// values, keys of labels.
fn aliases(ast: &ast::Fragment, model: &Lifecycle) -> Vec<(TokenStream, TokenStream)> {
    let fragment = &ast.part.name;
    let inputs = model.inputs.iter().map(|input| (&input.name, &input.ty));
    let values = model.values.iter().map(|value| (&value.name, &value.ty));
    let mut aliases = Vec::new();
    for (item, ty) in inputs.chain(values) {
        let alias = type_alias(fragment, item);
        let shown = quote! {
            #[doc(hidden)]
            #[allow(non_camel_case_types, reason = "it bears the name of an input")]
            pub type #alias = #ty;
        };
        aliases.push((quote!(#alias), shown));
    }
    for promise in &model.promises {
        let Some(claim) = &promise.claim else {
            continue;
        };
        let (alias, ty) = (keeper_alias(fragment, &promise.name), &claim.keeper);
        let shown = quote! {
            #[doc(hidden)]
            #[allow(non_camel_case_types, reason = "it bears the name of a promise")]
            pub type #alias = #ty;
        };
        aliases.push((quote!(#alias), shown));
    }
    for input in &model.inputs {
        let Lookup::Labels { pairs } = &input.lookup else {
            continue;
        };
        for (position, (key, _)) in pairs.iter().enumerate() {
            let (alias, parts) = (key_alias(fragment, &input.name, position), &key.parts);
            let shown = quote! {
                #[doc(hidden)]
                #[allow(non_upper_case_globals, reason = "it bears the name of an input")]
                pub const #alias: &str = #(#parts)::*;
            };
            aliases.push((quote!(#alias), shown));
        }
    }
    aliases
}

/// The text that is handed over. A `$` would mean something to the macro that does it, and is an error where it stands.
fn safe(ast: &ast::Fragment, alone: Option<&Lifecycle>) -> TokenStream {
    let name = &ast.part.name;
    match alone.is_none() && has_dollar(ast.tokens.clone()) {
        true => quote!(fragment #name;),
        false => ast.tokens.clone(),
    }
}

/// Keeps its own stack, for groups nest as deep as a text is long.
fn has_dollar(tokens: TokenStream) -> bool {
    let mut open = vec![tokens];
    while let Some(tokens) = open.pop() {
        for token in tokens {
            match token {
                TokenTree::Group(group) => open.push(group.stream()),
                TokenTree::Punct(punct) if punct.as_char() == '$' => return true,
                TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
    false
}
