//! A declaration as a row of words, in items: the subject of changes, against which positions of
//! findings are compared. Knows tokens, and sections only by name.

use std::collections::BTreeSet;
use std::ops::Range;

use proc_macro2::{Delimiter, Group, LineColumn, Span, TokenStream, TokenTree};

/// Words of the grammar. Two items that share one of them are not related by it.
pub(crate) const GRAMMAR: &str = "resource volume fragment use lock allow observe facts states effects promises teardown \
    retired transitions properties status rpc region needs by name names of ref refs labels namespace owner from given else every \
    min when wakes overdue even deleting goal apply create delete adopt call each undo key sets or claimed in not until before \
    while all any reaches always never abandoned held let mint count condition ready implicit field column kstatus event \
    otherwise clock record poll probe part shared owned without controller retain exclusive last_reported self meta \
    request bool doc within refused reason message phase kept deleted released finalizer value state now optional";

/// Values that the language gives, and types and paths that everybody has.
const COMMON: &str = "True False Unknown Omit Absent Pending Ready Error Ignored Suspended Present Unnamed Foreign \
    Terminating Stale Current Adoptable Behind Surplus Draining New Made Gone true false String Option Vec spec uid cloud at rest after _";

/// A token, or an end of a group.
#[derive(Clone, Debug)]
pub(crate) enum Token {
    One(TokenTree),
    /// The spans of the whole group, and of its first bracket.
    Open(Delimiter, Span, Span),
    Close(Span),
}

/// A token where it stands.
#[derive(Clone, Debug)]
pub(crate) struct SpannedToken {
    pub(crate) token: Token,
    pub(crate) text: String,
    /// True if it is a name that an author chose.
    pub(crate) is_chosen: bool,
}

impl SpannedToken {
    pub(crate) fn from_tree(token: TokenTree) -> Self {
        let text = token.to_string();
        let is_chosen = matches!(token, TokenTree::Ident(_)) && !is_common(&text);
        let token = Token::One(token);
        Self {
            token,
            text,
            is_chosen,
        }
    }

    pub(crate) fn span(&self) -> Span {
        match &self.token {
            Token::One(token) => token.span(),
            Token::Open(_, _, span) | Token::Close(span) => *span,
        }
    }

    /// The same, as if it stood elsewhere.
    pub(crate) fn with_span(mut self, span: Span) -> Self {
        if let Token::One(token) = &mut self.token {
            token.set_span(span);
        } else if let Token::Close(at) = &mut self.token {
            *at = span;
        } else if let Token::Open(_, whole, first) = &mut self.token {
            (*whole, *first) = (span, span);
        }
        self
    }

    pub(crate) fn is_name(&self) -> bool {
        matches!(&self.token, Token::One(TokenTree::Ident(_)))
    }

    pub(crate) fn is_close(&self) -> bool {
        matches!(self.token, Token::Close(_))
    }

    fn is_brace(&self) -> bool {
        matches!(self.token, Token::Open(Delimiter::Brace, ..))
    }
}

/// Returns true if it is not a name that an author chose.
pub(crate) fn is_common(name: &str) -> bool {
    let mut common = GRAMMAR.split_whitespace().chain(COMMON.split_whitespace());
    common.any(|common| common == name)
}

pub(crate) fn flatten_tokens(stream: TokenStream) -> Vec<SpannedToken> {
    let mut all = Vec::new();
    append(stream, &mut all);
    all
}

fn append(stream: TokenStream, all: &mut Vec<SpannedToken>) {
    for token in stream {
        let TokenTree::Group(group) = token else {
            all.push(SpannedToken::from_tree(token));
            continue;
        };
        let texts = match group.delimiter() {
            Delimiter::Parenthesis => ["(", ")"],
            Delimiter::Bracket => ["[", "]"],
            Delimiter::Brace | Delimiter::None => ["{", "}"],
        };
        let open = Token::Open(group.delimiter(), group.span(), group.span_open());
        let close = Token::Close(group.span_close());
        let word = |token, text: &str| SpannedToken {
            token,
            text: text.to_owned(),
            is_chosen: false,
        };
        all.push(word(open, texts[0]));
        append(group.stream(), all);
        all.push(word(close, texts[1]));
    }
}

/// Returns the tokens of a row in which every group ends.
pub(crate) fn stream(words: &[SpannedToken]) -> TokenStream {
    let mut open = vec![(Delimiter::None, Span::call_site(), Vec::new())];
    for word in words {
        match &word.token {
            Token::One(token) => {
                let last = open.last_mut().expect("the row itself stays open");
                last.2.push(token.clone());
            }
            Token::Open(delimiter, span, _) => open.push((*delimiter, *span, Vec::new())),
            Token::Close(_) => {
                let (delimiter, span, tokens) = open.pop().expect("it was opened");
                let mut group = Group::new(delimiter, tokens.into_iter().collect());
                group.set_span(span);
                let last = open.last_mut().expect("the row itself stays open");
                last.2.push(TokenTree::Group(group));
            }
        }
    }
    let (_, _, tokens) = open.pop().expect("the row itself stays open");
    tokens.into_iter().collect()
}

/// The token that begins here, with all of its group.
pub(crate) fn group_range(words: &[SpannedToken], at: usize) -> Range<usize> {
    let mut depth = 0;
    let mut end = at;
    loop {
        depth += match words[end].token {
            Token::One(_) => 0,
            Token::Open(..) => 1,
            Token::Close(_) => -1,
        };
        end += 1;
        if depth <= 0 {
            return at..end;
        }
    }
}

/// Item that ends with its `;`, or with its block. The head of a section is an item too.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// Empty outside of sections.
    pub(crate) section: String,
    pub(crate) words: Range<usize>,
    /// True if it is only the name of a section and its brace, or the brace that ends it.
    pub(crate) is_head: bool,
}

pub(crate) fn items(words: &[SpannedToken]) -> Vec<Item> {
    let (mut all, mut at) = (Vec::new(), 0);
    while at < words.len() {
        let start = at;
        while at < words.len() && words[at].text != ";" && !words[at].is_brace() {
            at = group_range(words, at).end;
        }
        let is_head = at > start && at < words.len() && words[at].is_brace();
        let section = if is_head {
            words[at - 1].text.clone()
        } else {
            String::new()
        };
        let end = group_range(words, at.min(words.len() - 1)).end;
        at = if is_head { at + 1 } else { end };
        all.push(Item {
            section: section.clone(),
            words: start..at,
            is_head,
        });
        if is_head {
            collect_items(words, at..end, &section, &mut all);
            at = end;
        }
    }
    all
}

/// The items of a section; its closing brace is one more.
fn collect_items(words: &[SpannedToken], range: Range<usize>, section: &str, all: &mut Vec<Item>) {
    let (mut at, mut start) = (range.start, range.start);
    let mut push = |words: Range<usize>, is_head| {
        if !words.is_empty() {
            let section = section.to_owned();
            all.push(Item {
                section,
                words,
                is_head,
            });
        }
    };
    while at + 1 < range.end {
        let next = group_range(words, at).end;
        if words[at].text == ";" || ends_with(words, at, section) {
            push(start..next, false);
            start = next;
        }
        at = next;
    }
    push(start..at, false);
    push(at..range.end, true);
}

/// Returns true if a block ends its item.
fn ends_with(words: &[SpannedToken], at: usize, section: &str) -> bool {
    if !words[at].is_brace() {
        return false;
    }
    let next = words
        .get(group_range(words, at).end)
        .map(|word| word.text.as_str());
    let goes_on = matches!(next, Some(";" | "&" | "|"));
    let is_condition = at >= 2 && words[at - 2].text == "condition";
    is_condition || section == "rpc" && !goes_on
}

/// Unit in which a finding may be: the declaration, or a fragment that it uses.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub(crate) words: Vec<SpannedToken>,
    pub(crate) items: Vec<Item>,
    file: String,
    starts: Vec<LineColumn>,
    ends: BTreeSet<LineColumn>,
}

impl Unit {
    pub(crate) fn from_tokens(body: TokenStream) -> Self {
        let words = flatten_tokens(body);
        let items = items(&words);
        let start = |word: &SpannedToken| word.span().start();
        let end = |word: &SpannedToken| word.span().end();
        Self {
            file: words
                .first()
                .map_or_else(String::new, |word| word.span().file()),
            starts: words.iter().map(start).collect(),
            ends: words.iter().map(end).collect(),
            words,
            items,
        }
    }

    /// The word that begins where a span does, if the span ends where a word does. A bracket that came in place of a word has the first letter of it.
    pub(crate) fn word_at(&self, span: Span) -> Option<usize> {
        let at = self.starts.binary_search(&span.start()).ok()?;
        let ends = self.ends.contains(&span.end()) || self.last_of(span) == at;
        (span.file() == self.file && ends).then_some(at)
    }

    /// The last word that a span reaches.
    pub(crate) fn last_of(&self, span: Span) -> usize {
        self.starts.partition_point(|start| *start < span.end()) - 1
    }

    pub(crate) fn of_item(&self, item: usize) -> &[SpannedToken] {
        &self.words[self.items[item].words.clone()]
    }

    pub(crate) fn item_of(&self, word: usize) -> usize {
        self.items.partition_point(|item| item.words.end <= word)
    }
}
