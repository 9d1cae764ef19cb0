//! Skeleton that is emitted if names do not resolve: empty versions of the types that other code
//! mentions. With them rustc reports the finding and not its consequences.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::ast::{Domain, Fact, FieldOf, Kind, Lifecycle};
use crate::hygiene::camel;

/// ```text
/// pub enum Validity { .. }  pub enum State { .. }  pub trait ListenerLogic {}  pub struct ListenerMachine<L>(L);  pub fn machine(..)
/// const _: PhantomData<(Listener, ListenerClass, ..)> = PhantomData;
/// ```
pub(crate) fn expand(ast: &Lifecycle) -> TokenStream {
    let logic = format_ident!("{}Logic", ast.name, span = ast.name.span());
    let machine = format_ident!("{}Machine", ast.name, span = ast.name.span());
    let states = once(ast.states.iter().map(|s| &s.name));
    let mentioned = mentioned(ast);
    let mut taken: BTreeSet<String> = mentioned.iter().map(ToString::to_string).collect();
    let facts: TokenStream = ast
        .facts
        .iter()
        .filter(|fact| !is_shared(ast, &fact.name))
        .filter(|fact| taken.insert(camel(&fact.name).to_string()))
        .filter_map(fact)
        .collect();
    quote! {
        #facts

        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum State { #(#states),* }

        pub trait #logic: ::std::marker::Send + ::std::marker::Sync + 'static {}

        #[derive(Clone, Debug)]
        pub struct #machine<L>(L);

        pub fn machine<L: #logic>(logic: L) -> #machine<L> {
            #machine(logic)
        }

        const _: ::std::marker::PhantomData<(#(#mentioned,)*)> = ::std::marker::PhantomData;
    }
}

fn fact(fact: &Fact) -> Option<TokenStream> {
    let Domain::Values { left, right } = &fact.domain else {
        return None;
    };
    let name = camel(&fact.name);
    let values = once(left.iter().chain(right.iter().flatten()));
    Some(quote! {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum #name { #(#values),* }
    })
}

/// The types of the declaration: their imports would look unused otherwise.
fn mentioned(ast: &Lifecycle) -> Vec<TokenStream> {
    let name = &ast.name;
    let subject = (ast.kind == Kind::Resource).then(|| quote!(#name));
    let inputs = ast.inputs.iter().filter(|i| !is_shared(ast, &i.name));
    let inputs = inputs.map(|i| &i.ty);
    let values = ast.values.iter().filter(|v| !is_shared(ast, &v.name));
    let values = values.map(|v| &v.ty);
    let fields = ast.fields.iter().filter(|f| !is_shared(ast, &f.name));
    let fields = fields.filter_map(|f| match &f.what {
        FieldOf::Method { ty, .. } => Some(&**ty),
        FieldOf::Phase | FieldOf::Reason | FieldOf::Message => None,
    });
    let types = inputs.chain(values).chain(fields).map(|ty| quote!(#ty));
    subject.into_iter().chain(types).collect()
}

/// Returns true if a fragment declares the name. The types of a fragment are its own.
fn is_shared(ast: &Lifecycle, name: &Ident) -> bool {
    ast.fragments.iter().any(|fragment| {
        let part = &fragment.part;
        let inputs = part.inputs.iter().map(|i| &i.name);
        let values = part.values.iter().map(|v| &v.name);
        let facts = part.facts.iter().map(|f| &f.name);
        let fields = part.fields.iter().map(|f| &f.name);
        let mut all = inputs.chain(values).chain(facts).chain(fields);
        all.any(|one| one == name)
    })
}

/// Returns the names without duplicates, which were reported.
fn once<'a>(names: impl Iterator<Item = &'a Ident>) -> Vec<&'a Ident> {
    let mut seen = BTreeSet::new();
    names.filter(|name| seen.insert(name.to_string())).collect()
}
