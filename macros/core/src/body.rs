//! Input of a macro: the tokens of a lifecycle, preceded by its fetched fragments. A fragment is a
//! macro of its own name that passes its tokens on. Therefore rustc resolves it like any other
//! macro.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

use crate::ast::LockText;
use crate::hygiene::private;

/// The tokens of one lifecycle with those of its fragments.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) own: TokenStream,
    pub(crate) fragments: Vec<Given>,
    pub(crate) lock: LockText,
}

/// A fetched fragment, under the name by which it is used.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) name: String,
    pub(crate) tokens: TokenStream,
}

impl Body {
    /// Parses the input of a macro: `@ { name { .. } other { .. } } resource ..`.
    pub(crate) fn from_tokens(body: TokenStream) -> Self {
        let mut tokens = body.clone().into_iter();
        match (tokens.next(), tokens.next()) {
            (Some(TokenTree::Punct(mark)), Some(TokenTree::Group(given)))
                if mark.as_char() == '@' =>
            {
                Self {
                    own: tokens.collect(),
                    fragments: fetched(given.stream()),
                    lock: LockText::Unread,
                }
            }
            _ => Self {
                own: body,
                fragments: Vec::new(),
                lock: LockText::Unread,
            },
        }
    }

    /// A lifecycle of a file, with the fragments that are known under their own names.
    pub(crate) fn with_fragments(own: TokenStream, fragments: &[TokenStream]) -> Self {
        let given = fragments.iter().filter_map(|tokens| {
            Some(Given {
                name: name_of(tokens)?.to_string(),
                tokens: tokens.clone(),
            })
        });
        Self {
            own,
            fragments: given.collect(),
            lock: LockText::Unread,
        }
    }

    /// Returns the body with the content of its lock file.
    pub(crate) fn locked(mut self, lock: LockText) -> Self {
        self.lock = lock;
        self
    }

    /// A call of the next fragment that is still to be fetched. A volume uses none.
    pub(crate) fn fetch(&self) -> Option<TokenStream> {
        let tokens: Vec<TokenTree> = self.own.clone().into_iter().collect();
        let volume = tokens.iter().take_while(|token| !is(token, ';'));
        let mut volume = volume.filter_map(as_ident);
        if volume.any(|word| word == "volume") {
            return None;
        }
        let used = tokens.windows(3).filter_map(|three| match three {
            [before, TokenTree::Ident(name), after]
                if as_ident(before).is_some_and(|word| word == "use") && is(after, ';') =>
            {
                Some(name)
            }
            _ => None,
        });
        let known = |name: &&Ident| self.fragments.iter().any(|given| *name == &given.name);
        let next = used.into_iter().find(|name| !known(name))?;
        let given = self.fragments.iter().map(|given| {
            let (name, tokens) = (Ident::new(&given.name, Span::call_site()), &given.tokens);
            quote!(#name { #tokens })
        });
        let own = &self.own;
        Some(quote_spanned!(next.span()=> #next! { #next { #(#given)* } { #own } }))
    }
}

/// Generates the macro by which a fragment passes on its tokens.
pub(crate) fn hand_over(name: &Ident, tokens: &TokenStream) -> TokenStream {
    let private = private();
    quote! {
        ($used:ident { $($given:tt)* } { $($own:tt)* }) => {
            #private::lifecycle! { @ { $($given)* $used { #tokens } } $($own)* }
        };
        ($($other:tt)*) => {
            ::core::compile_error! { ::core::concat!("`", ::core::stringify!(#name), "` is a fragment: write `use ", ::core::stringify!(#name), ";` in a `lifecycle!`") }
        };
    }
}

/// Returns the name that a fragment declares for itself.
fn name_of(tokens: &TokenStream) -> Option<Ident> {
    let mut tokens = tokens.clone().into_iter();
    tokens.find(|token| as_ident(token).is_some_and(|word| word == "fragment"))?;
    as_ident(&tokens.next()?).cloned()
}

fn fetched(given: TokenStream) -> Vec<Given> {
    let tokens: Vec<TokenTree> = given.into_iter().collect();
    let pairs = tokens.chunks(2).filter_map(|pair| match pair {
        [TokenTree::Ident(name), TokenTree::Group(tokens)] => Some(Given {
            name: name.to_string(),
            tokens: at_call_site(tokens.stream()),
        }),
        _ => None,
    });
    pairs.collect()
}

/// Returns the tokens at their places, with names resolved in the scope of the lifecycle. A
/// `macro_rules!` would resolve some of them in its own scope.
fn at_call_site(tokens: TokenStream) -> TokenStream {
    let one = |mut token: TokenTree| {
        let span = token.span().resolved_at(Span::call_site());
        if let TokenTree::Group(group) = token {
            let mut new = Group::new(group.delimiter(), at_call_site(group.stream()));
            new.set_span(span);
            return TokenTree::Group(new);
        }
        token.set_span(span);
        token
    };
    tokens.into_iter().map(one).collect()
}

fn as_ident(token: &TokenTree) -> Option<&Ident> {
    match token {
        TokenTree::Ident(ident) => Some(ident),
        TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    }
}

fn is(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}
