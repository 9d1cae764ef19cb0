//! The trait that an author implements: a method for every fact, value, lookup, builder, call, poll and field.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::calls;
use super::counts;
use super::facts::field_type;
use super::minted;
use super::polled;
use super::presence::is_guaranteed;
use super::witness::{result_name, witness_name};
use super::{shared, subject};
use crate::ast::builder_of;
use crate::hygiene::private;
use crate::model::{
    Effect, Field, FieldOf, Input, Lifecycle, Lookup, Mode, Origin, Pred, Source, Use, Value, Var,
    Verb,
};

/// ```text
/// pub trait ListenerLogic: Send + Sync + 'static {
///     fn validity(&self, this: This<'_, Listener>, class: &ListenerClass) -> Because<Validity>;
///     fn apply_service(&self, at: ApplyService<'_>) -> Desired<Service>;
/// }
/// ```
pub(crate) fn expand(model: &Lifecycle) -> TokenStream {
    let name = trait_name(model);
    let answered = shared::methods(model);
    let asked = methods(model, &|name| model.home_of(name).is_none(), &|name| {
        model.home_of_field(name).is_none()
    });
    let effects = model.effects.iter().flat_map(|e| effect(model, e));
    let reply = calls::reply_method(model);
    let Methods {
        lookups,
        polls,
        values,
        facts,
        fields,
    } = asked;
    let doc = format!(
        "What the author of `{}` decides: pure but for calls and polls, each method with exactly its declared inputs.",
        model.name
    );
    quote! {
        #[doc = #doc]
        #[allow(clippy::ptr_arg, reason = "a method gets its input as it was declared")]
        pub trait #name: ::std::marker::Send + ::std::marker::Sync + 'static {
            #answered #(#lookups)* #(#polls)* #(#values)* #(#facts)* #(#effects)* #(#fields)* #reply
        }
    }
}

/// Methods for inputs, values, facts and fields.
pub(super) struct Methods {
    pub(super) lookups: Vec<TokenStream>,
    pub(super) polls: Vec<TokenStream>,
    pub(super) values: Vec<TokenStream>,
    pub(super) facts: Vec<TokenStream>,
    pub(super) fields: Vec<TokenStream>,
}

/// The methods of those inputs, values, facts and fields that are wanted.
pub(super) fn methods(
    model: &Lifecycle,
    is_wanted: &dyn Fn(&Ident) -> bool,
    is_wanted_field: &dyn Fn(&Ident) -> bool,
) -> Methods {
    let inputs = || model.inputs.iter().filter(|i| is_wanted(&i.name));
    let values = model.values.iter().filter(|v| is_wanted(&v.name));
    let facts = model.vars.iter().filter(|v| is_wanted(&v.name));
    let fields = model.fields.iter().filter(|f| is_wanted_field(&f.name));
    Methods {
        lookups: inputs().filter_map(|i| lookup(model, i)).collect(),
        polls: inputs().filter_map(|i| polled::method(model, i)).collect(),
        values: values.map(|v| value(model, v)).collect(),
        facts: facts.filter_map(|v| fact(model, v)).collect(),
        fields: fields.filter_map(|f| field(model, f)).collect(),
    }
}

fn value(model: &Lifecycle, value: &Value) -> TokenStream {
    if value.mint.is_some() {
        return minted::methods(model, value);
    }
    let (method, ty) = (&value.name, &value.ty);
    let args = arguments(model, &value.from, &Vec::from_iter(&value.given));
    let doc = doc(&value.doc, format!("Computes the shared value `{method}`."));
    quote_spanned!(method.span()=> #[doc = #doc] fn #method(&self, #args) -> #ty;)
}

/// The name of the trait.
pub(crate) fn trait_name(model: &Lifecycle) -> Ident {
    format_ident!("{}Logic", model.name, span = model.name.span())
}

/// Returns the argument list of a pure method: its subject, then the declared inputs in written
/// order.
fn arguments(model: &Lifecycle, from: &[Use], given: &[&Pred]) -> TokenStream {
    let rest = from.iter().filter_map(|u| {
        let name = &u.name;
        let ty = argument_type(model, u, given)?;
        Some(quote!(#name: #ty))
    });
    let all = subject::parameter(model, from).into_iter().chain(rest);
    quote!(#(#all),*)
}

fn argument_type(model: &Lifecycle, used: &Use, given: &[&Pred]) -> Option<TokenStream> {
    let ty = match used.source {
        Source::Input(input) if model.inputs[input.0].many => {
            let ty = &model.inputs[input.0].ty;
            return Some(quote!(&[&#ty]));
        }
        Source::Input(input) => &model.inputs[input.0].ty,
        Source::Value(value) => &model.values[value.0].ty,
        Source::Fact(fact) => {
            let ty = field_type(model, &model.vars[fact.0]);
            return Some(quote!(#ty));
        }
        Source::Field(field) => return Some(subject::field_of_request(field).0),
        Source::This | Source::Request => return None,
    };
    Some(if is_guaranteed(model, given, used.source) {
        quote!(&#ty)
    } else {
        quote!(::std::option::Option<&#ty>)
    })
}

fn fact(model: &Lifecycle, var: &Var) -> Option<TokenStream> {
    let Origin::Fact { from, counts, .. } = &var.origin else {
        return None;
    };
    if *counts {
        return Some(counts::method(model, var, from));
    }
    let (private, name, ty) = (private(), &var.name, field_type(model, var));
    let args = arguments(
        model,
        from,
        &var.given.iter().map(|g| &g.pred).collect::<Vec<_>>(),
    );
    let timed = model.is_timed(var);
    let otherwise = match timed {
        true => format!("Answers the fact `{name}`, and says until when that holds."),
        false => format!("Answers the fact `{name}`."),
    };
    let (doc, answer) = (
        doc(&var.doc, otherwise),
        match timed {
            true => quote!(Timed),
            false => quote!(Because),
        },
    );
    Some(
        quote_spanned!(name.span()=> #[doc = #doc] fn #name(&self, #args) -> #private::#answer<#ty>;),
    )
}

fn lookup(model: &Lifecycle, input: &Input) -> Option<TokenStream> {
    let (private, name) = (private(), &input.name);
    let given = Vec::from_iter(&input.given);
    let (from, answer, doc) = match &input.lookup {
        Lookup::Names { of } => (
            of,
            quote!(::std::collections::BTreeSet<::std::string::String>),
            format!("The names of `{name}`."),
        ),
        Lookup::Refs { of } => (
            of,
            quote!(::std::collections::BTreeSet<#private::ObjectRef>),
            format!("Which objects `{name}` are, in any namespace."),
        ),
        Lookup::Ref { from } => (
            from,
            quote!(::std::option::Option<#private::ObjectRef>),
            format!("Which object `{name}` is."),
        ),
        Lookup::None
        | Lookup::Name { .. }
        | Lookup::Labels { .. }
        | Lookup::Owner
        | Lookup::Namespace => return None,
        Lookup::Equal { .. } | Lookup::Keys(_) => return None,
    };
    let args = arguments(model, from, &given);
    Some(quote_spanned!(name.span()=> #[doc = #doc] fn #name(&self, #args) -> #answer;))
}

/// The method of an effect, or those of the members of a group.
fn effect(model: &Lifecycle, effect: &Effect) -> Vec<TokenStream> {
    if model.inputs[effect.target.0].mode != Mode::Group {
        return Vec::from_iter(one_effect(model, effect));
    }
    let is_built = effect.verb == Verb::Apply;
    let members = model.members(effect.target).filter(|_| is_built);
    members
        .map(|(_, member)| of_member(effect, member))
        .collect()
}

fn of_member(effect: &Effect, member: &Input) -> TokenStream {
    let (private, witness, ty) = (private(), witness_name(effect), &member.ty);
    let name = builder_of(&effect.name, &member.name);
    let (built, wanted) = match member.optional {
        true => (
            quote!(::std::option::Option<#private::Desired<#ty>>),
            "; `None` if there is to be none",
        ),
        false => (quote!(#private::Desired<#ty>), ""),
    };
    let doc = doc(
        &member.doc,
        format!(
            "What `{}` should be: only the fields that we want to own{wanted}.",
            member.name
        ),
    );
    quote_spanned!(name.span()=> #[doc = #doc] fn #name(&self, at: #witness<'_>) -> #built;)
}

fn one_effect(model: &Lifecycle, effect: &Effect) -> Option<TokenStream> {
    let (private, name, witness) = (private(), &effect.name, witness_name(effect));
    let (target, ty) = (
        &model.inputs[effect.target.0],
        &model.inputs[effect.target.0].ty,
    );
    let doc = |otherwise| doc(&effect.doc, otherwise);
    match effect.verb {
        Verb::Delete | Verb::Adopt | Verb::Note => None,
        Verb::Call => {
            let (result, doc) = (
                result_name(effect),
                doc(format!(
                    "Runs `{name}`: one mutation, which consumes `once`."
                )),
            );
            Some(quote_spanned! {name.span()=>
                #[doc = #doc]
                fn #name(&self, at: #witness<'_>, once: #private::Once<'_>)
                    -> impl ::std::future::Future<Output = #private::Outcome<#result>> + ::std::marker::Send;
            })
        }
        Verb::Apply | Verb::Create => {
            let built = match (target.mode, effect.each) {
                (Mode::Record, _) => quote!(#ty),
                (_, true) => quote!(::std::vec::Vec<#private::Desired<#ty>>),
                (_, false) => quote!(#private::Desired<#ty>),
            };
            let doc = doc(match effect.verb {
                Verb::Create => format!("What is created of `{}`, once.", target.name),
                Verb::Apply | Verb::Delete | Verb::Call | Verb::Adopt | Verb::Note => format!(
                    "What `{}` should be: only the fields that we want to own.",
                    target.name
                ),
            });
            Some(
                quote_spanned!(name.span()=> #[doc = #doc] fn #name(&self, at: #witness<'_>) -> #built;),
            )
        }
    }
}

fn field(model: &Lifecycle, field: &Field) -> Option<TokenStream> {
    let FieldOf::Method { ty, from, .. } = &field.what else {
        return None;
    };
    let name = &field.name;
    let rest = from.iter().filter_map(|u| {
        let (name, ty) = (&u.name, source_type(model, u)?);
        Some(quote!(#name: #ty))
    });
    let all = subject::parameter(model, from).into_iter().chain(rest);
    let doc = doc(
        &field.doc,
        format!("The status field `{name}`; asked only where all its inputs are there."),
    );
    Some(quote_spanned!(name.span()=> #[doc = #doc] fn #name(&self, #(#all),*) -> #ty;))
}

fn source_type(model: &Lifecycle, used: &Use) -> Option<TokenStream> {
    let ty = match used.source {
        Source::Input(input) if model.inputs[input.0].many => {
            let ty = &model.inputs[input.0].ty;
            return Some(quote!(&[&#ty]));
        }
        Source::Input(input) => &model.inputs[input.0].ty,
        Source::Value(value) => &model.values[value.0].ty,
        Source::Fact(fact) => {
            let ty = field_type(model, &model.vars[fact.0]);
            return Some(quote!(#ty));
        }
        Source::Field(field) => return Some(subject::field_of_request(field).0),
        Source::This | Source::Request => return None,
    };
    Some(quote!(&#ty))
}

fn doc(written: &str, otherwise: String) -> String {
    if written.is_empty() {
        otherwise
    } else {
        written.to_owned()
    }
}
