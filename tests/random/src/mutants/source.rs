//! A declaration as sections, items and words, to be changed word by word and written down again.

use std::collections::BTreeMap;

use lifecycle_macros_core::find;
use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// A lifecycle as sections of items; an item is a list of words. A condition is a name with clauses.
#[derive(Clone, Debug)]
pub struct Source {
    head: Vec<Vec<String>>,
    pub(super) sections: BTreeMap<String, Vec<Vec<String>>>,
}

impl Source {
    /// The one lifecycle in a text, without its documentation.
    ///
    /// # Panics
    /// Panics if there is no lifecycle, or it does not consist of sections and items.
    pub fn parse(text: &str) -> Self {
        let tokens: TokenStream = text.parse().expect("it consists of tokens");
        let body = find(tokens).lifecycles.into_iter().next();
        let mut words = Vec::new();
        flatten(body.expect("there is a lifecycle"), &mut words);
        let (mut head, mut sections) = (Vec::new(), BTreeMap::new());
        let mut rest = words.as_slice();
        while let [name, next, ..] = rest {
            if next != "{" {
                head.push(take_item(&mut rest));
                continue;
            }
            let name = name.clone();
            let mut block = &take_block(&mut rest)[2..];
            block = &block[..block.len() - 1];
            let mut items = Vec::new();
            while !block.is_empty() {
                items.push(take_item(&mut block));
            }
            sections.insert(name, items);
        }
        Self { head, sections }
    }

    /// Returns the text between the braces of the macro.
    pub fn body(&self) -> String {
        let line = |items: &[Vec<String>]| -> Vec<String> {
            items.iter().map(|item| item.join(" ")).collect()
        };
        let mut text = line(&self.head).join("\n");
        for (name, items) in &self.sections {
            text += &format!("\n{name} {{\n{}\n}}", line(items).join("\n"));
        }
        text
    }

    pub(super) fn items(&self, section: &str) -> &[Vec<String>] {
        self.sections.get(section).map_or(&[], Vec::as_slice)
    }

    pub(super) fn with_section(
        &self,
        section: &str,
        change: impl FnOnce(&mut Vec<Vec<String>>),
    ) -> Self {
        let mut source = self.clone();
        if let Some(items) = source.sections.get_mut(section) {
            change(items);
        }
        source
    }

    pub(super) fn with_item(&self, section: &str, at: usize, item: Vec<String>) -> Self {
        self.with_section(section, |items| items[at] = item)
    }
}

/// Words, with operators whole and braces as words; documentation is left out.
fn flatten(tokens: TokenStream, words: &mut Vec<String>) {
    let mut joined = false;
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                tokens.next();
            }
            TokenTree::Punct(punct) => {
                match words.last_mut().filter(|_| joined) {
                    Some(last) => last.push(punct.as_char()),
                    None => words.push(punct.to_string()),
                }
                joined = punct.spacing() == Spacing::Joint && punct.as_char() != '>';
                continue;
            }
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace | Delimiter::None => ("{", "}"),
                };
                words.push(open.to_owned());
                flatten(group.stream(), words);
                words.push(close.to_owned());
            }
            TokenTree::Ident(_) | TokenTree::Literal(_) => words.push(token.to_string()),
        }
        joined = false;
    }
}

/// Takes everything up to the next `;` outside braces, or a condition with its block.
pub(super) fn take_item(rest: &mut &[String]) -> Vec<String> {
    if rest[0] == "condition" {
        return take_block(rest);
    }
    take_to(rest, |depth, word| depth == 0 && word == ";")
}

fn take_block(rest: &mut &[String]) -> Vec<String> {
    take_to(rest, |depth, word| depth == 0 && word == "}")
}

fn take_to(rest: &mut &[String], end: impl Fn(i32, &str) -> bool) -> Vec<String> {
    let mut depth = 0;
    let last = rest.iter().position(|word| {
        depth += i32::from(word == "{") - i32::from(word == "}");
        end(depth, word)
    });
    let (item, left) = rest.split_at(last.expect("every item ends") + 1);
    *rest = left;
    item.to_vec()
}
