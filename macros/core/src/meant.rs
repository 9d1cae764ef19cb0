//! Guess at the intended meaning of a lifecycle with unresolved names. The code of its author still
//! finds the items that it implements and uses, and rustc shows our finding and not its
//! consequences. Reports nothing, because everything was reported before.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};

use crate::ast;
use crate::body::Body;
use crate::check::unknown_name::Respelling;
use crate::errors::Sink;
use crate::model::{Lifecycle, build};
use crate::read;
use crate::union::union;

/// A place in a file: line and column.
type SourcePosition = (usize, usize);

/// How deep words are respelled: nothing of the language stands deeper, and a group may.
const DEEPEST: usize = 80;

/// Returns the model of a body with unknown names replaced by the probable ones, and without
/// duplicates. Returns `None` if the model is too large.
pub(crate) fn model(body: &Body, respellings: &[Respelling]) -> Option<Lifecycle> {
    let words = respellings.iter();
    let words = words.map(|(span, word)| (start_position(*span), word.as_str()));
    let mut body = body.clone();
    body.own = respelled(body.own, &words.collect(), DEEPEST);
    let ast = quietly(|sink| read(&body, sink))?;
    let mut ast = quietly(|sink| union(&ast, sink).into_owned());
    once(&mut ast);
    quietly(|sink| {
        let mut built = build::resolve(&ast, sink);
        build::order(&mut built, sink);
        for effect in &mut built.lifecycle.effects {
            if effect.sets.is_empty() {
                effect.sets.push(Vec::new());
            }
        }
        built.bounded.then_some(built.lifecycle)
    })
}

fn quietly<T>(work: impl FnOnce(&mut Sink) -> T) -> T {
    let mut sink = Sink::default();
    let done = work(&mut sink);
    sink.finish();
    done
}

fn start_position(span: Span) -> SourcePosition {
    (span.start().line, span.start().column)
}

fn respelled(
    body: TokenStream,
    words: &BTreeMap<SourcePosition, &str>,
    depth: usize,
) -> TokenStream {
    if words.is_empty() || depth == 0 {
        return body;
    }
    let one = |token| match token {
        TokenTree::Group(group) => {
            let inner = respelled(group.stream(), words, depth - 1);
            let mut new = Group::new(group.delimiter(), inner);
            new.set_span(group.span());
            TokenTree::Group(new)
        }
        TokenTree::Ident(word) => match words.get(&start_position(word.span())) {
            Some(meant) => TokenTree::Ident(Ident::new(meant, word.span())),
            None => TokenTree::Ident(word),
        },
        TokenTree::Punct(_) | TokenTree::Literal(_) => token,
    };
    body.into_iter().map(one).collect()
}

/// Removes items that would be generated twice, and effects that write nothing known.
fn once(ast: &mut ast::Lifecycle) {
    let mut sources = BTreeSet::from(["request", "deleting", "claimed"].map(str::to_owned));
    let mut methods = BTreeSet::new();
    let mut new = |name: &Ident| sources.insert(name.to_string());
    ast.inputs.retain(|input| new(&input.name));
    ast.values.retain(|value| new(&value.name));
    ast.facts.retain(|fact| new(&fact.name));
    ast.derived.retain(|derived| new(&derived.name));
    let named = ast.values.iter().map(|value| &value.name);
    let named = named.chain(ast.facts.iter().map(|fact| &fact.name));
    methods.extend(named.map(Ident::to_string));
    let asked = ast.inputs.iter().filter_map(build::input_method);
    methods.extend(asked.map(|method| method.to_string()));
    let known: BTreeSet<String> = ast.inputs.iter().map(|i| i.name.to_string()).collect();
    ast.effects
        .retain(|effect| known.contains(&effect.target.to_string()));
    ast.effects
        .retain(|effect| methods.insert(effect.name().to_string()));
    ast.fields
        .retain(|field| methods.insert(field.name.to_string()));
    let mut states = BTreeSet::from(["Deleting", "Refused"].map(str::to_owned));
    ast.states
        .retain(|state| states.insert(state.name.to_string()));
}
