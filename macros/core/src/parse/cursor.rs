//! A position in the tokens of one group: peeks, consumes, and reports the expected token. Knows
//! tokens only.

use proc_macro2::{Delimiter, Ident, Spacing, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;

use super::slip;
use crate::ast::Path;
use crate::check::unknown_name::suggestion;

/// Syntax error: a token that was expected and not found.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) span: Span,
    pub(crate) message: String,
}

/// The words that divide an item: never names.
const DIVIDERS: [&str; 8] = [
    "from",
    "when",
    "given",
    "sets",
    "not",
    "or",
    "otherwise",
    "by",
];
const PAIRS: [&str; 6] = ["->", "=>", "==", "!=", "&&", "||"];

/// How many tokens a type may have, those in its brackets included.
const LONGEST_TYPE: usize = 128;
/// How many of them may be brackets and signs: so its nesting is bounded too, and its parser takes a lot of stack for each level.
const DEEPEST_TYPE: usize = 32;

pub(crate) struct Cursor {
    tokens: Vec<TokenTree>,
    at: usize,
    end: Span,
    /// True if the text that is being read ends before an `in` without braces.
    pub(crate) is_claim: bool,
}

impl Cursor {
    pub(crate) fn new(stream: TokenStream, end: Span) -> Self {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        Self {
            tokens,
            at: 0,
            end,
            is_claim: false,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.at >= self.tokens.len()
    }

    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Moves one token back, because the last one does not belong here.
    pub(crate) fn back(&mut self) {
        self.at -= 1;
    }

    /// The tokens between two positions.
    pub(crate) fn between(&self, from: usize, to: usize) -> &[TokenTree] {
        &self.tokens[from..to.min(self.tokens.len())]
    }

    /// Of the token that comes next; at the end of the group of its closing brace.
    pub(crate) fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end, first_span)
    }

    /// Of the token before.
    pub(crate) fn previous(&self) -> Span {
        match self.at.checked_sub(1).and_then(|at| self.tokens.get(at)) {
            Some(TokenTree::Group(group)) => group.span_close(),
            Some(token) => token.span(),
            None => self.end,
        }
    }

    /// Returns true if a line or the group ends here.
    pub(crate) fn breaks(&self) -> bool {
        self.is_empty() || self.span().start().line > self.previous().end().line
    }

    pub(crate) fn fault(&self, expected: &str) -> Fault {
        let found = self.found();
        let instead = match found.strip_prefix('`') {
            Some(mark) => slip::instead(mark.trim_end_matches('`'), expected),
            None if self.is_doc() => Some("write it above an item, or as `//`"),
            None => None,
        };
        let instead = match instead {
            Some(instead) => format!(": {instead}"),
            None => suggestion(
                self.peek_ident()
                    .and_then(|word| slip::respelt(&word.to_string(), expected)),
            ),
        };
        Fault {
            span: self.span(),
            message: format!("expected {expected}, found {found}{instead}"),
        }
    }

    /// Returns true if a doc comment comes next.
    fn is_doc(&self) -> bool {
        let Some(TokenTree::Group(group)) = self.tokens.get(self.at + 1) else {
            return false;
        };
        let first = || group.stream().into_iter().next();
        self.is("#") && first().is_some_and(|word| as_ident(&word).is_some_and(|w| w == "doc"))
    }

    fn found(&self) -> String {
        match self.tokens.get(self.at) {
            None => "the end of the block".to_owned(),
            Some(TokenTree::Group(group)) => match group.delimiter() {
                Delimiter::Brace => "`{`".to_owned(),
                Delimiter::Bracket => "`[`".to_owned(),
                Delimiter::Parenthesis | Delimiter::None => "`(`".to_owned(),
            },
            Some(TokenTree::Punct(_)) if self.is_doc() => "a doc comment".to_owned(),
            Some(TokenTree::Punct(_)) => format!("`{}`", self.punct().unwrap_or_default()),
            Some(TokenTree::Ident(ident)) => format!("`{ident}`"),
            Some(TokenTree::Literal(literal)) => format!("`{literal}`"),
        }
    }

    /// The mark that comes next, two characters where they belong together.
    fn punct(&self) -> Option<String> {
        let TokenTree::Punct(first) = self.tokens.get(self.at)? else {
            return None;
        };
        let mut text = first.as_char().to_string();
        if first.spacing() == Spacing::Joint
            && let Some(TokenTree::Punct(second)) = self.tokens.get(self.at + 1)
        {
            text.push(second.as_char());
            if !PAIRS.contains(&text.as_str()) {
                text.pop();
            }
        }
        Some(text)
    }

    pub(crate) fn is(&self, mark: &str) -> bool {
        self.punct().is_some_and(|punct| punct == mark)
    }

    /// Takes a mark, if it comes next.
    pub(crate) fn eat(&mut self, mark: &str) -> Option<Span> {
        if !self.is(mark) {
            return None;
        }
        let span = self.span();
        self.at += mark.len();
        Some(span)
    }

    pub(crate) fn need(&mut self, mark: &str) -> Result<Span, Fault> {
        self.eat(mark)
            .ok_or_else(|| self.fault(&format!("`{mark}`")))
    }

    pub(crate) fn peek_ident(&self) -> Option<&Ident> {
        match self.tokens.get(self.at) {
            Some(TokenTree::Ident(ident)) => Some(ident),
            _ => None,
        }
    }

    /// Returns true if `word` follows the next token.
    pub(crate) fn then_word(&self, word: &str) -> bool {
        let next = self.tokens.get(self.at + 1).and_then(as_ident);
        next.is_some_and(|ident| ident == word)
    }

    /// Returns true if the next token is a word with another word behind it.
    pub(crate) fn then_name(&self) -> bool {
        let next = self.tokens.get(self.at + 1).and_then(as_ident);
        self.peek_ident().is_some() && next.is_some()
    }

    /// Returns true if a group in braces follows the next token.
    pub(crate) fn then_braces(&self) -> bool {
        matches!(self.tokens.get(self.at + 1), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Brace)
    }

    /// Returns true if a group in parentheses comes next.
    pub(crate) fn at_parens(&self) -> bool {
        matches!(self.tokens.get(self.at), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis)
    }

    /// Returns true if `mark` follows the next token.
    pub(crate) fn then_mark(&self, mark: char) -> bool {
        matches!(self.tokens.get(self.at + 1), Some(TokenTree::Punct(p)) if p.as_char() == mark)
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.peek_ident().is_some_and(|ident| ident == word)
    }

    pub(crate) fn eat_word(&mut self, word: &str) -> Option<Span> {
        if !self.is_word(word) {
            return None;
        }
        let span = self.span();
        self.at += 1;
        Some(span)
    }

    pub(crate) fn need_word(&mut self, word: &str) -> Result<Span, Fault> {
        self.eat_word(word)
            .ok_or_else(|| self.fault(&format!("`{word}`")))
    }

    /// A name that may become an identifier of Rust.
    pub(crate) fn ident(&mut self, what: &str) -> Result<Ident, Fault> {
        let Some(ident) = self.peek_ident().cloned() else {
            return Err(self.fault(what));
        };
        let text = ident.to_string();
        if DIVIDERS.contains(&text.as_str()) || !is_free(&ident) {
            return Err(self.fault(what));
        }
        self.at += 1;
        Ok(ident)
    }

    /// Reads at least one name, with a mark between them: `A | B`. `first` describes the tokens
    /// that may begin the list.
    pub(crate) fn idents(
        &mut self,
        mark: &str,
        (first, further): (&str, &str),
    ) -> Result<Vec<Ident>, Fault> {
        let mut names = vec![self.ident(first)?];
        while self.eat(mark).is_some() {
            names.push(self.ident(further)?);
        }
        Ok(names)
    }

    /// Any word, `self` and `true` included.
    pub(crate) fn any_word(&mut self, what: &str) -> Result<Ident, Fault> {
        let Some(ident) = self.peek_ident().cloned() else {
            return Err(self.fault(what));
        };
        if DIVIDERS.contains(&ident.to_string().as_str()) {
            return Err(self.fault(what));
        }
        self.at += 1;
        Ok(ident)
    }

    /// `a, b, c`: at least one.
    pub(crate) fn ident_list(&mut self, what: &str) -> Result<Vec<Ident>, Fault> {
        let mut words = vec![self.any_word(what)?];
        while self.eat(",").is_some() {
            words.push(self.any_word(what)?);
        }
        Ok(words)
    }

    /// `a.b.c`.
    pub(crate) fn path(&mut self) -> Result<Path, Fault> {
        let mut parts = vec![self.ident("a path such as `meta.name`")?];
        while self.eat(".").is_some() {
            parts.push(self.ident("a part of a path")?);
        }
        Ok(Path { parts })
    }

    /// The inside of a group, if one comes next.
    pub(crate) fn group(&mut self, delimiter: Delimiter) -> Option<Self> {
        let Some(TokenTree::Group(group)) = self.tokens.get(self.at) else {
            return None;
        };
        if group.delimiter() != delimiter {
            return None;
        }
        let inner = Self::new(group.stream(), group.span_close());
        self.at += 1;
        Some(inner)
    }

    pub(crate) fn braces(&mut self) -> Result<Self, Fault> {
        self.group(Delimiter::Brace)
            .ok_or_else(|| self.fault("`{`"))
    }

    /// Returns true if a literal comes next.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.tokens.get(self.at), Some(TokenTree::Literal(_)))
    }

    /// A string, if one comes next.
    pub(crate) fn text(&mut self) -> Option<String> {
        let Some(TokenTree::Literal(literal)) = self.tokens.get(self.at) else {
            return None;
        };
        let syn::Lit::Str(text) = syn::Lit::new(literal.clone()) else {
            return None;
        };
        self.at += 1;
        Some(text.value())
    }

    pub(crate) fn need_text(&mut self, what: &str) -> Result<String, Fault> {
        self.text().ok_or_else(|| self.fault(what))
    }

    /// Milliseconds from `10min`, `2s`, `500 ms`, `1h`.
    pub(crate) fn time(&mut self) -> Result<u64, Fault> {
        const WHAT: &str = "a time such as `500ms`, `30s`, `10min` or `1h`";
        let Some(TokenTree::Literal(literal)) = self.tokens.get(self.at) else {
            return Err(self.fault(WHAT));
        };
        let text = literal.to_string().replace('_', "");
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, mut unit) = (&text[..digits], text[digits..].to_owned());
        let apart = unit.is_empty();
        if apart && let Some(TokenTree::Ident(ident)) = self.tokens.get(self.at + 1) {
            unit = ident.to_string();
        }
        let factor = match unit.as_str() {
            "ms" => 1,
            "s" => 1_000,
            "min" => 60_000,
            "h" => 3_600_000,
            _ => return Err(self.fault(WHAT)),
        };
        let time = number
            .parse::<u64>()
            .ok()
            .and_then(|n| n.checked_mul(factor))
            .filter(|time| *time > 0)
            .ok_or_else(|| self.fault(WHAT))?;
        self.at += if apart { 2 } else { 1 };
        Ok(time)
    }

    /// A type that ends before one of `stops`, a `;` or the end.
    pub(crate) fn ty(&mut self, stops: &[&str]) -> Result<syn::Type, Fault> {
        let start = self.at;
        while let Some(token) = self.tokens.get(self.at) {
            let stop = match token {
                TokenTree::Ident(ident) => stops.iter().any(|stop| ident == stop),
                TokenTree::Punct(punct) => punct.as_char() == ';',
                TokenTree::Group(_) | TokenTree::Literal(_) => false,
            };
            if stop {
                break;
            }
            self.at += 1;
        }
        if self.at == start {
            return Err(self.fault("a type"));
        }
        if is_unwieldy(&self.tokens[start..self.at]) {
            return Err(Fault {
                span: first_span(&self.tokens[start]),
                message: format!(
                    "expected a type, found one of more than {LONGEST_TYPE} tokens, or of more than {DEEPEST_TYPE} brackets and signs: give it a name by `type Name = ..;` and write that"
                ),
            });
        }
        let tokens: TokenStream = self.tokens[start..self.at].iter().cloned().collect();
        syn::parse2(tokens).map_err(|_| Fault {
            span: self.tokens[start].span(),
            message: "expected a type".to_owned(),
        })
    }

    /// Doc comments. The lines of a paragraph become one line, because texts such as those of `explain` show them as they are.
    pub(crate) fn docs(&mut self) -> Result<String, Fault> {
        let mut lines = Vec::new();
        while self.is("#") {
            let hash = self.at;
            self.at += 1;
            let line = self.group(Delimiter::Bracket).and_then(|mut inner| {
                inner.eat_word("doc")?;
                inner.eat("=")?;
                inner.text()
            });
            let Some(line) = line else {
                return Err(Fault {
                    span: self.tokens[hash].span(),
                    message: "expected a doc comment, found another attribute".to_owned(),
                });
            };
            lines.push(line.strip_prefix(' ').unwrap_or(&line).to_owned());
        }
        Ok(joined_paragraphs(&lines))
    }

    /// Goes past the next `;`, or to the end.
    pub(crate) fn skip_past_semicolon(&mut self) {
        while !self.is_empty() && !self.is(";") {
            self.at += 1;
        }
        self.at += 1;
    }

    /// Goes past the next brace group, to the next section behind a `;`, or to the end.
    pub(crate) fn skip_to_section(&mut self) {
        while !self.is_empty() && self.group(Delimiter::Brace).is_none() {
            let ends = self.eat(";").is_some();
            if ends && self.is_section() {
                return;
            }
            self.at += usize::from(!ends);
        }
    }

    /// Goes past the next `;`, to the next section, or to the end.
    pub(crate) fn skip_line(&mut self) {
        while !self.is_empty() && !self.is_section() {
            if self.eat(";").is_some() {
                return;
            }
            self.at += 1;
        }
    }

    /// Returns true if the next tokens form a section, or a line beside the sections.
    fn is_section(&self) -> bool {
        let line = ["use", "allow", "lock"]
            .iter()
            .any(|word| self.is_word(word));
        line || self.peek_ident().is_some() && self.then_braces()
    }
}

/// Returns true if a type is longer or deeper than any that an author writes. Keeps its own stack,
/// because groups can nest to any depth.
fn is_unwieldy(tokens: &[TokenTree]) -> bool {
    let some = LONGEST_TYPE + 1;
    let mut open: Vec<TokenTree> = tokens.iter().take(some).cloned().collect();
    let (mut all, mut deep) = (0, 0);
    while let Some(token) = open.pop() {
        all += 1;
        deep += usize::from(may_nest(&token));
        if all > LONGEST_TYPE || deep > DEEPEST_TYPE {
            return true;
        }
        if let TokenTree::Group(group) = token {
            open.extend(group.stream().into_iter().take(some));
        }
    }
    false
}

fn may_nest(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(_) => true,
        TokenTree::Punct(punct) => ![':', ',', '>', '\''].contains(&punct.as_char()),
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    }
}

fn first_span(token: &TokenTree) -> Span {
    match token {
        TokenTree::Group(group) => group.span_open(),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => token.span(),
    }
}

/// Returns true if Rust accepts the word as a name.
fn is_free(ident: &Ident) -> bool {
    ident != "_" && syn::parse2::<Ident>(quote::quote!(#ident)).is_ok() || ident.unraw() != *ident
}

pub(super) fn as_ident(token: &TokenTree) -> Option<&Ident> {
    match token {
        TokenTree::Ident(ident) => Some(ident),
        TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    }
}

/// From the first token to the last where the compiler can join them, else the first.
pub(crate) fn join(first: Span, last: Span) -> Span {
    first.join(last).unwrap_or(first)
}

/// Joins the lines of each paragraph with a blank. Empty lines, lists and code stay as they are written.
fn joined_paragraphs(lines: &[String]) -> String {
    let is_text = |line: &str| {
        let first = line.chars().next();
        first.is_some_and(|first| !first.is_whitespace() && !"*-+#|>0123456789".contains(first))
            && !line.starts_with("```")
    };
    let mut text = String::new();
    let (mut is_code, mut was_text) = (false, false);
    for (number, line) in lines.iter().enumerate() {
        let joins = was_text && !is_code && is_text(line);
        match (number, joins) {
            (0, _) => {}
            (_, true) => text.push(' '),
            (_, false) => text.push('\n'),
        }
        text.push_str(line);
        is_code ^= line.starts_with("```");
        was_text = !is_code && is_text(line);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_paragraph_are_joined_and_others_are_not() {
        let joined = |text: &str| {
            let lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
            joined_paragraphs(&lines)
        };
        assert_eq!(
            joined("It is\ngone.\n\nLook\nthere."),
            "It is gone.\n\nLook there."
        );
        for kept in [
            "a:\n* one\n* two",
            "a\n```\nb\nc\n```\nd",
            "",
            "a\n| b |\n1. c",
        ] {
            assert_eq!(joined(kept), kept);
        }
    }
}
