//! Damaged lifecycles: for any token that is lost, doubled or replaced, nothing panics, and input
//! that is not understood is reported.

use lifecycle_macros_core::errors::{Diagnostic, Severity, Sink};
use lifecycle_macros_core::{build, parse};
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

use super::shipped::{body, body_of, names};

/// Damage to one token.
#[derive(Clone, Copy, Debug)]
enum Damage {
    Lost,
    Doubled,
    Replaced,
}

/// Does it to the token with number `at`, counted through groups; `at` runs down and wraps when it was done.
fn damage(stream: TokenStream, at: &mut usize, how: Damage) -> TokenStream {
    let mut out = Vec::new();
    for token in stream {
        let hit = *at == 0;
        *at = at.wrapping_sub(1);
        let token = match token {
            TokenTree::Group(group) if !hit => {
                let inner = damage(group.stream(), at, how);
                let mut new = Group::new(group.delimiter(), inner);
                new.set_span(group.span());
                TokenTree::Group(new)
            }
            TokenTree::Group(_)
            | TokenTree::Ident(_)
            | TokenTree::Punct(_)
            | TokenTree::Literal(_) => token,
        };
        match (hit, how) {
            (false, _) => out.push(token),
            (true, Damage::Lost) => {}
            (true, Damage::Doubled) => out.extend([token.clone(), token]),
            (true, Damage::Replaced) => {
                out.push(TokenTree::Ident(Ident::new("oddity", Span::call_site())));
            }
        }
    }
    out.into_iter().collect()
}

fn count(stream: TokenStream) -> usize {
    let tokens = stream.into_iter().map(|token| match token {
        TokenTree::Group(group) => 1 + count(group.stream()),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => 1,
    });
    tokens.sum()
}

/// Returns true if names resolved, and the findings.
fn understood(body: TokenStream) -> (bool, Vec<Diagnostic>) {
    let mut sink = Sink::default();
    let ast = parse(body, &mut sink);
    let model = ast.and_then(|ast| build(&ast, &mut sink));
    (model.is_some(), sink.finish())
}

#[test]
fn what_is_not_understood_is_reported() {
    let mut refused = 0;
    for name in names() {
        let body = body(&name);
        for at in 0..count(body.clone()) {
            let how = [Damage::Replaced, Damage::Doubled, Damage::Lost][at % 3];
            let damaged = damage(body.clone(), &mut { at }, how);
            let (resolved, found) = understood(damaged.clone());
            let errors = found.iter().any(|d| d.severity == Severity::Error);
            assert_eq!(resolved, !errors, "{name}, token {at} {how:?}: {damaged}");
            refused += usize::from(!resolved);
        }
    }
    assert!(
        refused > 3_000,
        "most damage is refused, not {refused} only"
    );
}

/// Verifies that the expansion consists of items for the author's code to find, regardless of the
/// damage.
#[test]
fn what_is_not_understood_is_still_expanded() {
    for name in names() {
        let body = body(&name);
        for at in (0..count(body.clone())).step_by(7) {
            let how = [Damage::Lost, Damage::Replaced, Damage::Doubled][at % 3];
            let damaged = damage(body.clone(), &mut { at }, how);
            let items = lifecycle_macros_core::expand(damaged.clone());
            if let Err(error) = syn::parse2::<syn::File>(items) {
                panic!("{name}, token {at} {how:?}: {error}: {damaged}");
            }
        }
    }
}

#[test]
fn one_lost_token_makes_few_findings() {
    let mut most = (0, String::new());
    for name in ["bucket", "listener", "scratch"] {
        let body = body(name);
        for at in 0..count(body.clone()) {
            let damaged = damage(body.clone(), &mut { at }, Damage::Lost);
            let (_, found) = understood(damaged);
            let syntax: Vec<_> = found.iter().filter(|d| d.code == "LC000").collect();
            if syntax.len() == found.len() && found.len() > most.0 {
                most = (found.len(), format!("{name}, token {at}: {syntax:?}"));
            }
            if !syntax.is_empty() && found.len() > 3 {
                let texts: Vec<_> = found.iter().map(|d| &d.message).collect();
                panic!("{name}, token {at}: {texts:#?}");
            }
        }
    }
    assert!(most.0 <= 2, "{}", most.1);
}

#[test]
fn groups_of_another_kind_are_not_taken_for_sections() {
    let mut tokens: Vec<TokenTree> = body("listener").into_iter().collect();
    for token in &mut tokens {
        if let TokenTree::Group(group) = token
            && group.delimiter() == Delimiter::Brace
        {
            *token = TokenTree::Group(Group::new(Delimiter::Bracket, group.stream()));
        }
    }
    let (resolved, found) = understood(tokens.into_iter().collect());
    assert!(!resolved && found.iter().all(|d| d.code == "LC000"));
}

/// Verifies that the mutual needs of two declarations are named. They once made the checker loop
/// for ever.
#[test]
fn declarations_in_a_circle_come_to_an_end() {
    let text = "lifecycle! { volume Round;
        observe {
            pv:     part PersistentVolume  by name request.volume_id given asked == Mount;
            claim:  PersistentVolumeClaim  by ref from pv            given pv != Absent;
            chosen: Listener               by ref from request, pv   given source == Name;
            own:    owned Listener of pv   by ref from pv            given source == Class && claim;
            class:  ListenerClass          by ref from chosen, own   given source == Name && chosen || own in { Stale, Current };
            pod:    part Pod               by ref from request       given pv != Absent;
        }
        facts {
            asked:   { Mount, Block }      from request;
            source:  { Class, Name, Bad }  from request              given pv != Absent;
            mounts:  { Yes, No }           from pod, claim           given pod != Absent;
            let aim: Option<Aim>           from chosen, own;
            exposed: { No, Yes }           from chosen, own, class   given source == Name && chosen || own in { Stale, Current };
        }
        states { Any when true_or_not; }
        effects {
            apply own from request, claim, pod when mounts == Yes;
            apply pv  from aim                 when exposed == Yes;
            apply pod from aim                 when exposed == Yes;
        }
        rpc { NodeUnstageVolume; }
    }";
    let text = text.replace("true_or_not", "mounts == Yes || mounts == No");
    let (_, found) = understood(body_of(&text));
    assert!(found.iter().any(|d| d.code == "LC066"), "{found:?}");
}
