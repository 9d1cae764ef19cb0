//! Tokens and a cursor over them, up to predicates: the elements of every line.

use crate::syntax::Pred;

/// A text that is no lifecycle; generated texts never are, shrunk ones may be.
#[derive(Debug)]
pub(crate) struct Broken(pub(crate) String);

pub(super) type Parsed<T> = Result<T, Broken>;

/// A place in the tokens of a text.
pub(super) struct Cursor {
    tokens: Vec<String>,
    at: usize,
}

fn lex(text: &str) -> Parsed<Vec<String>> {
    let text: Vec<char> = text.chars().collect();
    let (mut tokens, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let start = at;
        let rest = |word: &str| word.chars().eq(text[start..].iter().take(2).copied());
        if text[at].is_whitespace() {
            at += 1;
            continue;
        } else if rest("//") {
            while at < text.len() && text[at] != '\n' {
                at += 1;
            }
            continue;
        } else if text[at] == '"' {
            at += 1;
            while at < text.len() && text[at] != '"' {
                at += if text[at] == '\\' { 2 } else { 1 };
            }
            at += 1;
        } else if text[at].is_alphanumeric() || text[at] == '_' {
            while at < text.len() && (text[at].is_alphanumeric() || text[at] == '_') {
                at += 1;
            }
        } else if ["->", "=>", "==", "!=", "&&", "||"]
            .iter()
            .any(|word| rest(word))
        {
            at += 2;
        } else if "!{}()[];:,.?|=<>".contains(text[at]) {
            at += 1;
        } else {
            return Err(Broken(format!("stray `{}`", text[at])));
        }
        tokens.push(text[start..at.min(text.len())].iter().collect());
    }
    Ok(tokens)
}

impl Cursor {
    pub(super) fn new(text: &str) -> Parsed<Self> {
        Ok(Self {
            tokens: lex(text)?,
            at: 0,
        })
    }

    /// The token after the next one.
    pub(super) fn second(&self) -> &str {
        self.tokens.get(self.at + 1).map_or("", String::as_str)
    }

    pub(super) fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    pub(super) fn next(&mut self) -> Parsed<String> {
        let token = self
            .tokens
            .get(self.at)
            .cloned()
            .ok_or_else(|| Broken("it ends early".into()))?;
        self.at += 1;
        Ok(token)
    }

    pub(super) fn eat(&mut self, word: &str) -> bool {
        let found = self.peek() == word;
        self.at += usize::from(found);
        found
    }

    pub(super) fn need(&mut self, word: &str) -> Parsed<()> {
        if self.eat(word) {
            Ok(())
        } else {
            Err(Broken(format!(
                "expected `{word}`, found `{}`",
                self.peek()
            )))
        }
    }

    pub(super) fn ident(&mut self) -> Parsed<String> {
        let token = self.next()?;
        match token.chars().next() {
            Some(first) if first.is_alphabetic() || first == '_' => Ok(token),
            _ => Err(Broken(format!("expected a name, found `{token}`"))),
        }
    }

    pub(super) fn idents(&mut self) -> Parsed<Vec<String>> {
        let mut names = vec![self.ident()?];
        while self.eat(",") {
            names.push(self.ident()?);
        }
        Ok(names)
    }

    pub(super) fn path(&mut self) -> Parsed<String> {
        let mut path = self.ident()?;
        while self.eat(".") {
            path = format!("{path}.{}", self.ident()?);
        }
        Ok(path)
    }

    pub(super) fn text(&mut self) -> Option<String> {
        let found = self
            .peek()
            .strip_prefix('"')?
            .trim_end_matches('"')
            .to_owned();
        self.at += 1;
        Some(found)
    }

    pub(super) fn skip_type(&mut self) -> Parsed<()> {
        let mut depth = 0;
        loop {
            match self.peek() {
                "from" | "in" | ";" if depth == 0 => return Ok(()),
                "<" | "[" | "(" => depth += 1,
                ">" | "]" | ")" => depth -= 1,
                _ => {}
            }
            self.next()?;
        }
    }

    pub(super) fn pred(&mut self) -> Parsed<Pred> {
        let mut left = self.conjunction()?;
        while self.eat("||") {
            left = Pred::Or(Box::new(left), Box::new(self.conjunction()?));
        }
        Ok(left)
    }

    pub(super) fn conjunction(&mut self) -> Parsed<Pred> {
        let mut left = self.unary()?;
        while self.eat("&&") {
            left = Pred::And(Box::new(left), Box::new(self.unary()?));
        }
        Ok(left)
    }

    pub(super) fn unary(&mut self) -> Parsed<Pred> {
        if self.eat("!") {
            return Ok(Pred::Not(Box::new(self.unary()?)));
        }
        if self.eat("(") {
            let inner = self.pred()?;
            self.need(")")?;
            return Ok(inner);
        }
        let name = self.ident()?;
        if name == "refused" && self.eat("(") {
            let effect = self.ident()?;
            self.need(")")?;
            return Ok(Pred::Is(format!("?{effect}"), None));
        }
        let join = match name.as_str() {
            "any" => Pred::Or,
            "all" => Pred::And,
            _ => return Ok(self.test()?.to_pred(name)),
        };
        if !self.eat("(") {
            return Ok(self.test()?.to_pred(name));
        }
        let names = self.idents()?;
        self.need(")")?;
        let test = self.test()?;
        let mut asked = names.into_iter().map(|name| test.to_pred(name));
        let first = asked
            .next()
            .ok_or_else(|| Broken("nothing is asked".into()))?;
        Ok(asked.fold(first, |all, one| join(Box::new(all), Box::new(one))))
    }

    /// Parses the text behind the name of a fact.
    fn test(&mut self) -> Parsed<Test> {
        if self.eat("==") {
            return Ok(Test(false, Some(vec![self.ident()?])));
        }
        if self.eat("!=") {
            return Ok(Test(true, Some(vec![self.ident()?])));
        }
        let negated = self.eat("not");
        let is_set = self.peek() == "in" && self.second() == "{";
        if !is_set {
            return if negated {
                Err(Broken("`not` without `in`".into()))
            } else {
                Ok(Test(false, None))
            };
        }
        self.need("in")?;
        self.need("{")?;
        let among = self.idents()?;
        self.need("}")?;
        Ok(Test(negated, Some(among)))
    }
}

/// Test of a fact: a flag that negates it, and the values if they are named.
struct Test(bool, Option<Vec<String>>);

impl Test {
    fn to_pred(&self, name: String) -> Pred {
        let asked = Pred::Is(name, self.1.clone());
        if self.0 {
            Pred::Not(Box::new(asked))
        } else {
            asked
        }
    }
}
