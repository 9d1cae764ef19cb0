//! A fragment by itself: the checks that need no lifecycle that uses it, and the source of its
//! trait.

use proc_macro2::TokenStream;

use crate::ast::{FieldOf, Fragment};
use crate::check::{misfit_fragment, misfit_group, misplaced_mint};
use crate::errors::{Diagnostic, Sink};
use crate::model::{self, build};
use crate::parse::parse_fragment;

/// Everything that is known about one `fragment!` block by itself.
#[derive(Debug)]
pub struct CheckedFragment {
    /// All findings, by position.
    pub diagnostics: Vec<Diagnostic>,
    /// Parsed text, if at least its name could be read.
    pub ast: Option<Fragment>,
    /// Model of the declarations, about an object of any type `K`, if all names resolved.
    pub model: Option<model::Lifecycle>,
}

/// Parses and resolves the body of one `fragment! { .. }`.
pub fn check_fragment(body: TokenStream) -> CheckedFragment {
    let mut sink = Sink::default();
    let ast = parse_fragment(body, &mut sink);
    let model = ast.as_ref().and_then(|fragment| {
        misfits(fragment, &mut sink);
        let built = build::alone(fragment, &mut sink);
        (built.complete && !sink.has_errors()).then_some(built.lifecycle)
    });
    CheckedFragment {
        diagnostics: sink.finish(),
        ast,
        model,
    }
}

fn misfits(fragment: &Fragment, sink: &mut Sink) {
    let (part, needed) = (&fragment.part, fragment.needed());
    for mark in &part.marks {
        let found = misfit_fragment::fragment_in_fragment(&mark.fragment, &part.name);
        sink.push(found);
    }
    misfit_group::in_fragment(fragment, sink);
    let minted = part.values.iter().filter_map(misplaced_mint::in_fragment);
    minted.for_each(|found| sink.push(found));
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
