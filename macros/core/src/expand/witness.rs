//! One witness type an effect: proof that its inputs are there, and the result type of each `call`.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::facts::values;
use super::presence::usable;
use super::state::is;
use super::subject;
use crate::hygiene::{camel, camel_case};
use crate::model::{Assign, Effect, Lifecycle, Source, Use, Verb};

/// ```text
/// pub struct ApplyService<'a> { pub this: This<'a, Listener>, pub class: &'a ListenerClass, _proved: () }
/// impl<'a> ApplyService<'a> { pub fn at(seen: &Seen<'a>, facts: &Facts) -> Option<Self> { .. } }
/// pub enum PutBucketResult { Current, Taken }
/// ```
pub(crate) fn expand(model: &Lifecycle) -> TokenStream {
    let built = model.effects.iter();
    let built = built.filter(|e| matches!(e.verb, Verb::Apply | Verb::Create | Verb::Call));
    built
        .map(|e| {
            [witness(model, e), result(model, e)]
                .into_iter()
                .collect::<TokenStream>()
        })
        .collect()
}

/// The type of an effect's witness.
pub(crate) fn witness_name(effect: &Effect) -> Ident {
    camel(&effect.name)
}

/// The type of a call's result.
pub(crate) fn result_name(effect: &Effect) -> Ident {
    format_ident!("{}Result", camel(&effect.name), span = effect.name.span())
}

fn witness(model: &Lifecycle, effect: &Effect) -> TokenStream {
    let name = witness_name(effect);
    let about = subject::field_of(model, effect);
    let about_read = about.as_ref().map(|_| {
        let name = subject::name(model);
        quote!(#name: seen.#name,)
    });
    let used: Vec<_> = effect
        .from
        .iter()
        .filter(|u| matches!(u.source, Source::Input(_) | Source::Value(_)))
        .collect();
    let names: Vec<_> = used.iter().map(|u| &u.name).collect();
    let types = used.iter().map(|u| field_type(model, u));
    let may_lack = |u: &Use| match u.source {
        Source::Input(input) => model.inputs[input.0].only_if.is_some(),
        Source::This | Source::Request | Source::Field(_) | Source::Value(_) | Source::Fact(_) => {
            false
        }
    };
    let docs = used.iter().map(|u| match may_lack(u) {
        true => format!("`{}`, if it exists.", u.name),
        false => format!("`{}`, certainly there.", u.name),
    });
    let reads = used.iter().map(|u| field_read(model, u));
    let checks = used.iter().filter_map(|u| check(model, u));
    // A witness that is built from nothing has no field that could carry the lifetime.
    let (proof, proved) = if about.is_none() && used.is_empty() {
        let marker = quote!(::std::marker::PhantomData);
        (quote!(#marker<&'a ()>), marker)
    } else {
        (quote!(()), quote!(()))
    };
    let doc = format!(
        "Proof that everything is there that `{}` is built from.",
        effect.name
    );
    quote! {
        #[doc = #doc]
        #[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
        #[derive(Clone)]
        pub struct #name<'a> {
            #about
            #(#[doc = #docs] pub #names: #types,)*
            _proved: #proof,
        }

        impl<'a> #name<'a> {
            /// The proof, where it can be given.
            #[allow(unused_variables, reason = "an effect may need nothing but the object")]
            pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
                if !(true #(&& #checks)*) { return ::std::option::Option::None; }
                ::std::option::Option::Some(Self { #about_read #(#names: #reads,)* _proved: #proved })
            }
        }
    }
}

fn field_type(model: &Lifecycle, used: &Use) -> TokenStream {
    match used.source {
        Source::Input(input) => {
            let (input, ty) = (&model.inputs[input.0], &model.inputs[input.0].ty);
            match (input.many, &input.only_if) {
                (true, _) => quote!(::std::vec::Vec<&'a #ty>),
                (false, Some(_)) => quote!(::std::option::Option<&'a #ty>),
                (false, None) => quote!(&'a #ty),
            }
        }
        Source::Value(value) => {
            let ty = &model.values[value.0].ty;
            quote!(&'a #ty)
        }
        Source::This | Source::Request | Source::Field(_) | Source::Fact(_) => quote!(()),
    }
}

fn field_read(model: &Lifecycle, used: &Use) -> TokenStream {
    let name = &used.name;
    match used.source {
        Source::Input(input) if model.inputs[input.0].many => quote!(seen.#name.clone()),
        Source::Input(input) if model.inputs[input.0].only_if.is_some() => quote!(seen.#name),
        Source::Input(_) | Source::Value(_) => quote!(seen.#name?),
        Source::This | Source::Request | Source::Field(_) | Source::Fact(_) => quote!(()),
    }
}

fn check(model: &Lifecycle, used: &Use) -> Option<TokenStream> {
    let Source::Input(input) = used.source else {
        return None;
    };
    let input = &model.inputs[input.0];
    let var = input.var.filter(|_| !input.many)?;
    Some(is(model, var, usable(model, var)))
}

fn result(model: &Lifecycle, effect: &Effect) -> TokenStream {
    if effect.verb != Verb::Call {
        return TokenStream::new();
    }
    let name = result_name(effect);
    let variants = variants(model, effect);
    let doc = format!(
        "What `{}` may end with, in order of its `sets`.",
        effect.name
    );
    let docs = effect.sets.iter().map(|alternative| {
        let set = alternative.iter().map(|a| {
            format!(
                "{} = {}",
                model.vars[a.var.0].name, model.vars[a.var.0].values[a.value]
            )
        });
        format!("`{}`.", set.collect::<Vec<_>>().join(", "))
    });
    quote! {
        #[doc = #doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(clippy::enum_variant_names, reason = "names are those of the declaration")]
        pub enum #name { #(#[doc = #docs] #variants),* }

        impl #name {
            fn alternative(&self) -> usize {
                *self as usize
            }
        }
    }
}

/// Returns one variant for each alternative, named after the values that it sets: `Current`,
/// `Taken`, `FilesFresh`, `NotStaged`. Variants are numbered only if names clash.
fn variants(model: &Lifecycle, effect: &Effect) -> Vec<Ident> {
    let mut names: Vec<String> = Vec::new();
    for alternative in &effect.sets {
        let mut name: String = alternative.iter().map(|a| variant_name(model, a)).collect();
        // The values that it establishes were reported as unknown.
        if name.is_empty() {
            name.push_str("Done");
        }
        let taken = names.iter().filter(|n| **n == name).count();
        names.push(if taken == 0 {
            name
        } else {
            format!("{name}{}", taken + 1)
        });
    }
    names
        .iter()
        .map(|n| Ident::new(n, effect.name.span()))
        .collect()
}

fn variant_name(model: &Lifecycle, assign: &Assign) -> String {
    let var = &model.vars[assign.var.0];
    match (super::facts::is_bool(var), assign.value) {
        (true, 0) => format!("Not{}", camel_case(&var.name.to_string())),
        (true, _) => camel_case(&var.name.to_string()),
        (false, value) => values(var)[value].to_string(),
    }
}
