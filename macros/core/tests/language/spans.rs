//! Spans of the generated items, which point at the words of the declaration. An editor can
//! therefore go from a method, a variant or a field to its line, and rename both.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use proc_macro2::Ident;

use super::shipped::{body_of, folder, names, text};
use lifecycle_macros_core::model::{Lifecycle, Mode, Origin};

/// Items that an expansion defines, indexed by the span that each one claims.
struct Defined {
    source: String,
    model: Lifecycle,
    by_place: BTreeMap<(usize, usize), BTreeSet<String>>,
}

fn all() -> Vec<Defined> {
    let specimen = std::fs::read_to_string(folder("expand").join("specimen.txt"));
    let specimen = specimen.expect("the specimen can be read");
    let others = names().into_iter().map(|name| text(&name));
    std::iter::once(specimen)
        .chain(others)
        .map(defined)
        .collect()
}

fn defined(source: String) -> Defined {
    let body = body_of(&source);
    let model = lifecycle_macros_core::check(body.clone()).model;
    let expanded = lifecycle_macros_core::expand(body);
    let file: syn::File = syn::parse2(expanded).expect("an expansion is made of items");
    let mut by_place: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for ident in file.items.iter().flat_map(definitions) {
        let Range { start, end } = ident.span().byte_range();
        let here = by_place.entry((start, end)).or_default();
        here.insert(ident.to_string());
    }
    Defined {
        source,
        model: model.expect("it resolves"),
        by_place,
    }
}

/// The names that an item gives to something.
fn definitions(item: &syn::Item) -> Vec<Ident> {
    if let syn::Item::Enum(item) = item {
        let variants = item.variants.iter().map(|one| one.ident.clone());
        return variants.chain([item.ident.clone()]).collect();
    }
    if let syn::Item::Struct(item) = item {
        let fields = item.fields.iter().filter_map(|one| one.ident.clone());
        return fields.chain([item.ident.clone()]).collect();
    }
    let syn::Item::Trait(item) = item else {
        return Vec::new();
    };
    let mut names = vec![item.ident.clone()];
    for one in &item.items {
        if let syn::TraitItem::Fn(method) = one {
            names.push(method.sig.ident.clone());
        }
    }
    names
}

impl Defined {
    /// Returns true if exactly this word of the declaration defines an item of this name.
    fn defines(&self, word: &Ident, name: &str) -> bool {
        let Range { start, end } = word.span().byte_range();
        let here = self.by_place.get(&(start, end));
        here.is_some_and(|names| names.contains(name))
    }

    #[track_caller]
    fn expect(&self, word: &Ident, name: &str) {
        let (of, places) = (&self.model.name, &self.by_place);
        assert!(
            self.defines(word, name),
            "{of}: nothing at `{word}` defines `{name}`: {places:?}"
        );
    }
}

fn camel(name: &str) -> String {
    let capital = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_uppercase() + rest
    };
    name.split('_').map(capital).collect()
}

#[test]
fn states_are_variants_at_their_line() {
    for one in all() {
        for state in &one.model.states {
            one.expect(&state.name, &state.name.to_string());
        }
    }
}

#[test]
fn facts_are_methods_fields_and_types_at_their_line_and_values_are_variants_where_they_stand() {
    let mut values = 0;
    for one in all() {
        for var in &one.model.vars {
            let Origin::Fact { boolean, .. } = var.origin else {
                continue;
            };
            one.expect(&var.name, &var.name.to_string());
            if boolean {
                continue;
            }
            let (ty, other) = (
                camel(&var.name.to_string()),
                format!("{}Value", camel(&var.name.to_string())),
            );
            assert!(
                one.defines(&var.name, &ty) || one.defines(&var.name, &other),
                "{ty}"
            );
            for (value, span) in var.values.iter().zip(&var.spans) {
                one.expect(&Ident::new(value, *span), value);
                assert_eq!(&one.source[span.byte_range()], value);
                values += 1;
            }
        }
    }
    assert!(values > 100, "{values} values");
}

#[test]
fn inputs_are_fields_at_their_line() {
    for one in all() {
        let seen = one.model.inputs.iter();
        for input in seen.filter(|input| input.mode != Mode::Clock && input.retired.is_none()) {
            one.expect(&input.name, &input.name.to_string());
        }
    }
}

/// Tests that effects with a builder method generate methods and types at their line. An effect
/// without a name points at its target: `apply_service` at `service`.
#[test]
fn effects_that_a_method_makes_are_methods_and_types_at_their_line() {
    let mut methods = 0;
    for one in all() {
        let at = |ident: &Ident| ident.span().byte_range();
        for effect in &one.model.effects {
            let here = one
                .by_place
                .get(&(at(&effect.name).start, at(&effect.name).end));
            let name = effect.name.to_string();
            let defined = here.is_some_and(|names| names.contains(&name));
            let elsewhere = one
                .by_place
                .values()
                .flatten()
                .filter(|known| **known == name);
            // A delete has no method.
            assert!(
                defined || elsewhere.count() == 0,
                "{}: `{name}`",
                one.model.name
            );
            if defined {
                methods += 1;
                one.expect(&effect.name, &camel(&name));
            }
        }
    }
    assert!(methods > 20, "{methods} methods");
}

/// Tests that generated code points at words of its own name. Exceptions are the items of every
/// lifecycle with a held fact, which point at its name, and the results of a call, which point at
/// the call.
#[test]
fn nothing_stands_at_a_word_of_another_name() {
    let mut strays = Vec::new();
    for one in all() {
        for ((start, end), names) in &one.by_place {
            let there = one.source.get(*start..*end).unwrap_or_default();
            let bare = |text: &str| text.replace('_', "").to_lowercase();
            let effects = one.model.effects.iter().map(|effect| &effect.name);
            let calls = one.model.calls.iter().map(|call| &call.name);
            let is_call = effects.chain(calls).any(|name| name == there);
            for name in names {
                let is_own = start == end || bare(name).contains(&bare(there));
                let of_all =
                    one.model.name == there && ["deleting", "claimed"].contains(&name.as_str());
                if !(is_own || of_all || is_call) {
                    strays.push(format!("{}: `{name}` stands at `{there}`", one.model.name));
                }
            }
        }
    }
    assert!(strays.is_empty(), "{strays:#?}");
}
