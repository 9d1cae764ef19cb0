//! Rust text as words, signs and groups in brackets, without comments. Knows as much of the language as it takes to never mistake a text for code.

/// A piece of Rust.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// An identifier, a keyword or a number.
    Word(&'a str),
    /// Text between the quotes of a string.
    Text(&'a str),
    /// `::`
    Path,
    /// Any other character.
    Sign(char),
    /// Content between brackets, and the bracket that opens it.
    Group(char, Vec<Token<'a>>),
}

/// Reads all tokens of a source. An unclosed bracket or string ends with the file.
pub(super) fn read(text: &str) -> Vec<Token<'_>> {
    let mut reader = Reader { rest: text };
    reader.until_closed()
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn until_closed(&mut self) -> Vec<Token<'a>> {
        let mut tokens = Vec::new();
        while let Some(next) = self.rest.chars().next() {
            if self.rest.starts_with("//") {
                self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("/*") {
                self.skip_comment();
            } else if let Some(text) = self.string() {
                tokens.push(Token::Text(text));
            } else if next == '\'' {
                self.skip_quote();
            } else if self.rest.starts_with("::") {
                self.take(2);
                tokens.push(Token::Path);
            } else if is_of_word(next) {
                let end = self.rest.find(|c| !is_of_word(c));
                tokens.push(Token::Word(self.take(end.unwrap_or(self.rest.len()))));
            } else {
                self.take(next.len_utf8());
                match next {
                    '(' | '[' | '{' => tokens.push(Token::Group(next, self.until_closed())),
                    ')' | ']' | '}' => return tokens,
                    _ if next.is_whitespace() => {}
                    _ => tokens.push(Token::Sign(next)),
                }
            }
        }
        tokens
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    /// Comments in `/* */` hold others.
    fn skip_comment(&mut self) {
        let mut depth = 0;
        loop {
            if self.rest.starts_with("/*") {
                depth += 1;
                self.take(2);
            } else if self.rest.starts_with("*/") {
                depth -= 1;
                self.take(2);
            } else if let Some(next) = self.rest.chars().next() {
                self.take(next.len_utf8());
            } else {
                return;
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// A string of any kind, if one begins here. `r#type` is none, and reads as two words and a sign, which is as good.
    fn string(&mut self) -> Option<&'a str> {
        let opened = self.rest.trim_start_matches(['b', 'c', 'r']);
        let prefix = &self.rest[..self.rest.len() - opened.len()];
        if !["", "b", "c", "r", "br", "cr"].contains(&prefix) {
            return None;
        }
        let raw = prefix.ends_with('r');
        let hashes = if raw {
            opened.len() - opened.trim_start_matches('#').len()
        } else {
            0
        };
        if !opened[hashes..].starts_with('"') {
            return None;
        }
        self.take(prefix.len() + hashes + 1);
        let end = if raw {
            self.rest.find(&format!("\"{}", "#".repeat(hashes)))
        } else {
            closing(self.rest, '"')
        };
        let text = self.take(end.unwrap_or(self.rest.len()));
        self.take((1 + hashes).min(self.rest.len()));
        Some(text)
    }

    /// The letter of a character, or the name of a lifetime.
    fn skip_quote(&mut self) {
        self.take(1);
        let mut letters = self.rest.chars();
        let (first, second) = (letters.next(), letters.next());
        if first == Some('\\') || second == Some('\'') {
            let end = closing(self.rest, '\'');
            self.take(end.map_or(self.rest.len(), |end| end + 1));
        } else {
            let end = self.rest.find(|c| !is_of_word(c));
            self.take(end.unwrap_or(self.rest.len()));
        }
    }
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Returns the position of the closing quote, which no `\` precedes.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (place, letter) in text.char_indices() {
        if letter == quote && !escaped {
            return Some(place);
        }
        escaped = letter == '\\' && !escaped;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[Token<'_>]) {
        assert_eq!(read(text), expected, "{text}");
    }

    #[test]
    fn groups_hold_what_is_between_their_brackets() {
        let inner = vec![
            Token::Word("b"),
            Token::Path,
            Token::Group('[', vec![Token::Word("1")]),
        ];
        check(
            "a { b::[1] }!",
            &[Token::Word("a"), Token::Group('{', inner), Token::Sign('!')],
        );
    }

    #[test]
    fn comments_are_left_out() {
        check("a // b }\nc", &[Token::Word("a"), Token::Word("c")]);
        check(
            "a /* { /* b */ } */ c",
            &[Token::Word("a"), Token::Word("c")],
        );
    }

    #[test]
    fn a_string_is_one_text_whatever_it_holds() {
        check(
            r#""a::b \" {" c"#,
            &[Token::Text(r#"a::b \" {"#), Token::Word("c")],
        );
        check(
            r##"r#"a " {"# c"##,
            &[Token::Text("a \" {"), Token::Word("c")],
        );
        check(r#"b"\\" c"#, &[Token::Text(r"\\"), Token::Word("c")]);
        check("br\"\\\" c", &[Token::Text("\\"), Token::Word("c")]);
        check("bc r", &[Token::Word("bc"), Token::Word("r")]);
    }

    #[test]
    fn characters_and_lifetimes_are_no_strings() {
        check(r"'{' '\'' '\u{7f}' a", &[Token::Word("a")]);
        check("&'a b", &[Token::Sign('&'), Token::Word("b")]);
        check("b'\"' a", &[Token::Word("b"), Token::Word("a")]);
    }
}
