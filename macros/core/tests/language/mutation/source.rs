//! The Listener lifecycle as sections, items and words, to be changed word by word and written down again.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

use crate::language::shipped;

/// A lifecycle as sections of items; an item is a list of words. A condition is a name with clauses.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    head: Vec<String>,
    pub(crate) sections: BTreeMap<String, Vec<Vec<String>>>,
}

impl Source {
    pub(crate) fn listener() -> Self {
        let text = shipped::text("listener");
        let tokens: TokenStream = text.parse().expect("it consists of tokens");
        let mut words = Vec::new();
        flatten(tokens, &mut words);
        let open = words
            .iter()
            .position(|word| word == "{")
            .expect("it has a body");
        let mut rest = &words[open + 1..words.len() - 1];
        let head = take_item(&mut rest);
        let mut sections = BTreeMap::new();
        while let [name, ..] = rest {
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

    pub(crate) fn text(&self) -> String {
        let mut text = self.head.join(" ");
        for (name, items) in &self.sections {
            let items: Vec<String> = items.iter().map(|item| item.join(" ")).collect();
            text += &format!("\n{name} {{\n{}\n}}", items.join("\n"));
        }
        text
    }

    pub(crate) fn items(&self, section: &str) -> &[Vec<String>] {
        self.sections.get(section).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn with(&self, section: &str, change: impl FnOnce(&mut Vec<Vec<String>>)) -> Self {
        let mut source = self.clone();
        change(
            source
                .sections
                .get_mut(section)
                .expect("the section exists"),
        );
        source
    }

    pub(crate) fn with_item(&self, section: &str, at: usize, item: Vec<String>) -> Self {
        self.with(section, |items| items[at] = item)
    }
}

/// Words, with operators whole and braces as words; documentation is left out.
fn flatten(tokens: TokenStream, words: &mut Vec<String>) {
    let mut joined = false;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                tokens.next();
            }
            TokenTree::Punct(punct) => {
                if joined {
                    words
                        .last_mut()
                        .expect("joined to a word")
                        .push(punct.as_char());
                } else {
                    words.push(punct.to_string());
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

/// What goes to the next `;` outside braces, or a condition with its block.
pub(crate) fn take_item(rest: &mut &[String]) -> Vec<String> {
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
