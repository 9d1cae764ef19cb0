//! The machine: the author's logic behind the trait that drivers run, by position.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::calls::reply;
use super::logic::trait_name;
use super::paths::{object_path, text};
use super::presence::is_guaranteed;
use super::witness::{result_name, witness_name};
use super::{counts, minted, polled, shared, subject, texts, times};
use crate::ast::builder_of;
use crate::hygiene::private;
use crate::model::{
    Effect, Field, FieldOf, Input, Kind, Lifecycle, Lookup, Mode, Origin, Pred, Source, Use, Var,
    Verb,
};

/// ```text
/// pub struct ListenerMachine<L>(L);
/// pub fn machine<L: ListenerLogic>(logic: L) -> ListenerMachine<L>
/// impl<L: ListenerLogic> Machine for ListenerMachine<L> { each method: a match over positions }
/// ```
pub(crate) fn expand(model: &Lifecycle) -> TokenStream {
    let (private, subject, logic) = (private(), &model.name, trait_name(model));
    let name = format_ident!("{}Machine", subject, span = subject.span());
    let methods = [
        kinds(model),
        records(model),
        lookup_methods(model),
        answer_methods(model),
        builds(model),
        fields(model),
        texts::method(model),
        times::method(model),
        polled::dispatch(model),
        calls(model),
        replies(model),
    ];
    let about = (model.kind == Kind::Resource).then(|| {
        quote! {
            fn subject(&self) -> ::std::option::Option<#private::Kind> {
                ::std::option::Option::Some(#private::Kind::for_type::<#subject>())
            }
        }
    });
    let doc = format!("The lifecycle of `{subject}` with the logic of its author.");
    quote! {
        #[doc = #doc]
        #[derive(Clone, Debug)]
        pub struct #name<L>(L);

        /// Ties the logic to the lifecycle.
        pub fn machine<L: #logic>(logic: L) -> #name<L> {
            #name(logic)
        }

        #[allow(unused_variables, reason = "a lifecycle need not use every argument")]
        impl<L: #logic> #private::Machine for #name<L> {
            fn ir(&self) -> &'static #private::ir::Lifecycle {
                IR
            }

            #about

            #(#methods)*
        }
    }
}

fn kinds(model: &Lifecycle) -> TokenStream {
    let private = private();
    let watched = model.inputs.iter().enumerate();
    let watched = watched.filter(|(_, i)| {
        !matches!(
            i.mode,
            Mode::Record | Mode::Noted | Mode::Poll | Mode::Probe | Mode::Clock | Mode::Group
        )
    });
    let arms = watched.map(|(n, i)| {
        let ty = &i.ty;
        quote!(#n => ::std::option::Option::Some(#private::Kind::for_type::<#ty>()),)
    });
    quote! {
        fn kind(&self, input: usize) -> ::std::option::Option<#private::Kind> {
            match input { #(#arms)* _ => ::std::option::Option::None }
        }
    }
}

fn records(model: &Lifecycle) -> TokenStream {
    let private = private();
    let records = model.inputs.iter().enumerate();
    let mut arms = records
        .filter(|(_, i)| i.mode == Mode::Record)
        .map(|(n, i)| {
            let ty = &i.ty;
            quote!(#n => #private::recalled::<#ty>(recorded),)
        })
        .peekable();
    if arms.peek().is_none() {
        return TokenStream::new();
    }
    quote! {
        fn recall(&self, input: usize, recorded: &#private::Json) -> ::std::option::Option<#private::Any> {
            match input { #(#arms)* _ => ::std::option::Option::None }
        }
    }
}

fn lookup_methods(model: &Lifecycle) -> TokenStream {
    let private = private();
    let arms = model.inputs.iter().enumerate().map(|(n, i)| {
        let look = lookup_expr(model, i);
        some(n, look)
    });
    let theirs = model.inputs.iter().enumerate().filter_map(|(n, i)| {
        let Lookup::Equal { theirs, .. } = &i.lookup else {
            return None;
        };
        let (ty, path) = (&i.ty, object_path(theirs));
        Some(quote!(#n => #private::Text::text(&object.get::<#ty>()? #path),))
    });
    let wants = wants(model);
    quote! {
        #wants

        fn lookup(&self, observation: &#private::Observation, input: usize) -> ::std::option::Option<#private::LookupKey> {
            match input { #(#arms)* _ => ::std::option::Option::None }
        }

        fn theirs(&self, input: usize, object: &#private::Stored) -> ::std::option::Option<::std::string::String> {
            match input { #(#theirs)* _ => ::std::option::Option::None }
        }
    }
}

/// ```text
/// fn wants(&self, observation: &Observation, input: usize) -> Option<bool> { match input { 2 => Some(Wanted::is_wanted(&observation.this::<Site>()?.spec.host)), .. } }
/// ```
fn wants(model: &Lifecycle) -> TokenStream {
    let (private, subject) = (private(), subject::of_board(model));
    let inputs = model.inputs.iter().enumerate();
    let mut arms = inputs
        .filter_map(|(n, input)| {
            let parts = &input.only_if.as_ref()?.parts;
            let last = parts.last()?.span();
            let wanted = quote_spanned!(last=> #private::Wanted::is_wanted(&#subject #(.#parts)*));
            Some(some(n, wanted))
        })
        .peekable();
    if arms.peek().is_none() {
        return TokenStream::new();
    }
    quote! {
        fn wants(&self, observation: &#private::Observation, input: usize) -> ::std::option::Option<bool> {
            match input { #(#arms)* _ => ::std::option::Option::None }
        }
    }
}

fn lookup_expr(model: &Lifecycle, input: &Input) -> TokenStream {
    let private = private();
    match &input.lookup {
        Lookup::Name { path, .. } => {
            let text = text(model, path);
            quote!(#private::lookup_name(#text))
        }
        Lookup::Labels { pairs } => {
            let texts = pairs.iter().map(|(_, path)| text(model, path));
            quote!(#private::lookup_labels([#(#texts),*]))
        }
        Lookup::Names { of } => {
            let call = call(
                model,
                (&input.name, &input.name),
                of,
                &Vec::from_iter(&input.given),
            );
            quote!(#private::LookupKey::Names(#call))
        }
        Lookup::Refs { of } => {
            let call = call(
                model,
                (&input.name, &input.name),
                of,
                &Vec::from_iter(&input.given),
            );
            quote!(#private::LookupKey::Refs(#call))
        }
        Lookup::Ref { from } => {
            let call = call(
                model,
                (&input.name, &input.name),
                from,
                &Vec::from_iter(&input.given),
            );
            quote!(#private::lookup_ref(#call))
        }
        Lookup::Equal { ours, .. } => {
            let text = text(model, ours);
            quote!(#private::lookup_equal(#text))
        }
        Lookup::Keys(keys) => polled::lookup(model, keys),
        Lookup::None | Lookup::Owner | Lookup::Namespace => quote!(#private::LookupKey::All),
    }
}

/// `self.0.validity(observation.this::<Listener>()?, observation.one::<ListenerClass>(0)?)`
fn call(
    model: &Lifecycle,
    (item, method): (&Ident, &Ident),
    from: &[Use],
    given: &[&Pred],
) -> TokenStream {
    let home = model.home_of(item);
    let rest = from.iter().filter_map(|u| {
        let guaranteed = match home {
            Some(home) => shared::is_guaranteed(home, item, &u.name),
            None => is_guaranteed(model, given, u.source),
        };
        argument(model, u, guaranteed)
    });
    let all = subject::argument(model, from).into_iter().chain(rest);
    shared::call(model, home, method, &all.collect::<Vec<_>>())
}

fn argument(model: &Lifecycle, used: &Use, guaranteed: bool) -> Option<TokenStream> {
    let ask = guaranteed.then(|| quote!(?));
    match used.source {
        Source::Input(input) => {
            let (n, input) = (input.0, &model.inputs[input.0]);
            let ty = &input.ty;
            Some(if input.many {
                quote!(&observation.many::<#ty>(#n))
            } else {
                quote!(observation.one::<#ty>(#n) #ask)
            })
        }
        Source::Value(value) => {
            let (n, ty) = (value.0, &model.values[value.0].ty);
            Some(quote!(observation.value::<#ty>(#n) #ask))
        }
        Source::Fact(fact) => {
            let name = super::facts::field_name(&model.vars[fact.0]);
            Some(quote!(Facts::from_world(&observation.world).#name))
        }
        Source::Field(field) => Some(subject::field_of_request(field).1),
        Source::This | Source::Request => None,
    }
}

fn answer_methods(model: &Lifecycle) -> TokenStream {
    let private = private();
    let makes = minted::makes(model);
    let values = model.values.iter().enumerate().map(|(n, v)| {
        if v.mint.is_some() {
            return some(n, minted::read(model, v));
        }
        let call = call(
            model,
            (&v.name, &v.name),
            &v.from,
            &Vec::from_iter(&v.given),
        );
        some(n, quote!(#private::shared(#call)))
    });
    let answers = |timed: bool| {
        let facts = model.vars.iter().enumerate();
        let facts = facts.filter(move |(_, v)| model.is_timed(v) == timed);
        facts.filter_map(|(n, v)| fact(model, n, v)).collect()
    };
    let (facts, timed): (Vec<_>, Vec<_>) = (answers(false), answers(true));
    let timed = (!timed.is_empty()).then(|| {
        quote! {
            fn timed(&self, observation: &#private::Observation, var: usize) -> ::std::option::Option<#private::Timed<u8>> {
                match var { #(#timed)* _ => ::std::option::Option::None }
            }
        }
    });
    quote! {
        fn value(&self, observation: &#private::Observation, value: usize) -> ::std::option::Option<#private::Any> {
            match value { #(#values)* _ => ::std::option::Option::None }
        }

        #makes

        fn fact(&self, observation: &#private::Observation, var: usize) -> ::std::option::Option<#private::Answer> {
            match var { #(#facts)* _ => ::std::option::Option::None }
        }

        #timed
    }
}

fn fact(model: &Lifecycle, number: usize, var: &Var) -> Option<TokenStream> {
    let Origin::Fact { from, counts, .. } = &var.origin else {
        return None;
    };
    if *counts {
        return Some(some(number, counts::answer(model, var, from)));
    }
    let given: Vec<_> = var.given.iter().map(|g| &g.pred).collect();
    let call = call(model, (&var.name, &var.name), from, &given);
    Some(some(number, quote!(#call.map(|value| value as u8))))
}

fn builds(model: &Lifecycle) -> TokenStream {
    let private = private();
    let arms = model
        .effects
        .iter()
        .enumerate()
        .filter(|(_, e)| matches!(e.verb, Verb::Apply | Verb::Create))
        .map(|(n, e)| {
            let built = built(model, e);
            some(n, built)
        });
    quote! {
        fn build(&self, observation: &#private::Observation, effect: usize) -> ::std::option::Option<#private::Built> {
            let (seen, facts) = (Seen::from_observation(observation)?, Facts::from_world(&observation.world));
            match effect { #(#arms)* _ => ::std::option::Option::None }
        }
    }
}

fn built(model: &Lifecycle, effect: &Effect) -> TokenStream {
    let (private, name, witness) = (private(), &effect.name, witness_name(effect));
    if model.inputs[effect.target.0].mode == Mode::Group {
        return built_group(model, effect);
    }
    let ty = &model.inputs[effect.target.0].ty;
    let built = quote!(self.0.#name(#witness::at(&seen, &facts)?));
    match (model.inputs[effect.target.0].mode, effect.each) {
        (Mode::Record, _) => quote!(#private::recorded(&#built)?),
        (_, true) => quote!(#private::Desired::<#ty>::into_built_each(#built)),
        (_, false) => quote!(#private::Desired::<#ty>::into_built(#built)),
    }
}

/// One builder a member, in the order of the members.
fn built_group(model: &Lifecycle, effect: &Effect) -> TokenStream {
    let (private, witness) = (private(), witness_name(effect));
    let members = model.members(effect.target).map(|(_, member)| {
        let (name, ty) = (builder_of(&effect.name, &member.name), &member.ty);
        let built = quote!(self.0.#name(::std::clone::Clone::clone(&at)));
        match member.optional {
            true => quote!(#built.map(#private::Desired::<#ty>::into_member)),
            false => {
                quote!(::std::option::Option::Some(#private::Desired::<#ty>::into_member(#built)))
            }
        }
    });
    quote!({
        let at = #witness::at(&seen, &facts)?;
        #private::Built::Group(::std::vec![#(#members),*])
    })
}

fn fields(model: &Lifecycle) -> TokenStream {
    let private = private();
    let arms = model.fields.iter().enumerate().filter_map(|(n, f)| {
        let read = read(model, f)?;
        Some(quote!(#n => #read,))
    });
    quote! {
        fn field(&self, observation: &#private::Observation, field: usize) -> ::std::option::Option<#private::Json> {
            match field { #(#arms)* _ => ::std::option::Option::None }
        }
    }
}

fn read(model: &Lifecycle, field: &Field) -> Option<TokenStream> {
    let FieldOf::Method { from, .. } = &field.what else {
        return None;
    };
    let (private, name) = (private(), &field.name);
    let rest = from.iter().filter_map(|u| argument(model, u, true));
    let all = subject::argument(model, from).into_iter().chain(rest);
    let home = model.home_of_field(name);
    let call = shared::call(model, home, name, &all.collect::<Vec<_>>());
    Some(quote!(#private::json(&#call)))
}

fn calls(model: &Lifecycle) -> TokenStream {
    let private = private();
    let arms = model.effects.iter().enumerate().filter(|(_, e)| e.verb == Verb::Call).map(|(n, e)| {
        let (name, witness, result) = (&e.name, witness_name(e), result_name(e));
        some(n, quote!(#private::calling(self.0.#name(#witness::at(&seen, &facts)?, once), #result::alternative)))
    });
    let keys = model.effects.iter().enumerate().filter_map(|(n, e)| {
        let text = key(model, e)?;
        Some(quote!(#n => #text,))
    });
    quote! {
        fn key(&self, observation: &#private::Observation, effect: usize) -> ::std::option::Option<::std::string::String> {
            match effect { #(#keys)* _ => ::std::option::Option::None }
        }

        fn call<'a>(&'a self, observation: &'a #private::Observation, effect: usize, once: #private::Once<'a>) -> ::std::option::Option<#private::Calling<'a>> {
            let (seen, facts) = (Seen::from_observation(observation)?, Facts::from_world(&observation.world));
            match effect { #(#arms)* _ => ::std::option::Option::None }
        }
    }
}

fn replies(model: &Lifecycle) -> TokenStream {
    let private = private();
    let Some(name) = reply(model) else {
        return TokenStream::new();
    };
    quote! {
        fn created(&self, observation: &#private::Observation) -> ::std::option::Option<#private::CreatedVolume> {
            ::std::option::Option::Some(self.0.#name(&Seen::from_observation(observation)?))
        }
    }
}

/// The text under which the provider treats a repetition as the same request.
fn key(model: &Lifecycle, effect: &Effect) -> Option<TokenStream> {
    let key = effect.key.as_ref()?;
    Some(match (key.input, key.path.parts.as_slice()) {
        (Some(input), [_]) => {
            let input = input.0;
            quote!(observation.identity(#input))
        }
        (Some(_) | None, _) => text(model, &key.path),
    })
}

/// One arm of a match over positions.
fn some(position: usize, expression: TokenStream) -> TokenStream {
    quote!(#position => ::std::option::Option::Some(#expression),)
}
