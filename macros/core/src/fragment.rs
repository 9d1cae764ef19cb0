//! A fragment by itself: what can be known of it before any lifecycle uses it, and what its trait is made from.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};

use crate::ast::{Fact, FieldOf, Fragment, Lifecycle};
use crate::check::misfit_fragment;
use crate::errors::{Diagnostic, Sink};
use crate::model::build::{self, Built};
use crate::model::{self};
use crate::parse::parse_fragment;

/// Everything that is known about one `fragment!` block by itself.
#[derive(Debug)]
pub struct CheckedFragment {
    /// All findings, by position.
    pub diagnostics: Vec<Diagnostic>,
    /// What was written, if at least its name could be read.
    pub ast: Option<Fragment>,
    /// What it declares, about an object of any type `K`, if all names resolved.
    pub model: Option<model::Lifecycle>,
}

/// Parses and resolves the body of one `fragment! { .. }`.
pub fn check_fragment(body: TokenStream) -> CheckedFragment {
    let mut sink = Sink::default();
    let ast = parse_fragment(body, &mut sink);
    let model = ast.as_ref().and_then(|fragment| {
        misfits(fragment, &mut sink);
        let built = alone(fragment, &mut sink);
        (built.complete && !sink.has_errors()).then_some(built.lifecycle)
    });
    CheckedFragment {
        diagnostics: sink.finish(),
        ast,
        model,
    }
}

/// The names that a fragment asks and does not declare.
pub(crate) fn needed(fragment: &Fragment) -> BTreeSet<String> {
    let needs = fragment.needs.iter();
    needs.map(|need| need.name.to_string()).collect()
}

/// What a fragment means by itself.
pub(crate) fn alone(fragment: &Fragment, sink: &mut Sink) -> Built {
    let mut built = build::resolve(&by_itself(fragment), sink);
    build::order(&mut built, sink);
    built
}

/// The fragment as a lifecycle of its own that declares what it needs. What is about conditions of the lifecycle, that shows.
fn by_itself(fragment: &Fragment) -> Lifecycle {
    let mut part = fragment.part.clone();
    part.name = Ident::new("K", part.name.span());
    (part.ready, part.implicit) = (None, None);
    let needed = needed(fragment);
    for state in &mut part.states {
        let wakes = state.wakes.iter_mut();
        wakes.for_each(|wakes| wakes.retain(|name| !needed.contains(&name.to_string())));
        state.wakes.take_if(|wakes| wakes.is_empty());
    }
    let needs = fragment.needs.iter();
    part.facts.extend(needs.map(|need| Fact {
        name: need.name.clone(),
        doc: String::new(),
        held: None,
        domain: need.domain.clone(),
        from: Vec::new(),
        given: Vec::new(),
    }));
    part
}

fn misfits(fragment: &Fragment, sink: &mut Sink) {
    let (part, needed) = (&fragment.part, needed(fragment));
    for mark in &part.marks {
        let found = misfit_fragment::fragment_in_fragment(&mark.fragment, &part.name);
        sink.push(found);
    }
    for field in &part.fields {
        let FieldOf::Method { from, .. } = &field.what else {
            continue;
        };
        let outside = from.iter().filter(|s| needed.contains(&s.to_string()));
        for source in outside {
            sink.push(misfit_fragment::reads_need(source, &field.name, &part.name));
        }
    }
}
