//! Oracle's own reading of a lifecycle's text: a recursive descent over tokens that stops at the
//! first misspelling. Duplicate declarations stay duplicates. Shares nothing with the checker's
//! parser and knows only the rules of spelling.

mod calls;
mod groups;
mod made;
mod shared;
mod tokens;
mod written_out;

use crate::minted::makings_are_needed;
use crate::once;
use crate::ownership::owners_are_needed;
use crate::strays::mentioned;
use crate::syntax::{Assign, Effect, Fact, Input, Let, Life, Pred, Promise, Property, Span, State};
use shared::Fragment;
use tokens::{Broken, Cursor, Parsed};
use written_out::write_out;

type Names = Option<Vec<String>>;

struct Parser {
    cursor: Cursor,
    life: Life,
    /// The fragments that stand before the lifecycle.
    fragments: Vec<Fragment>,
}

const PRECONDITIONS: [&str; 6] = [
    "unfit",
    "unknown",
    "in_use",
    "elsewhere",
    "unstaged",
    "differs",
];

/// Reads one `lifecycle! { resource ..; }` or `lifecycle! { volume ..; }`.
pub(crate) fn parse(text: &str) -> Parsed<Life> {
    let mut parser = Parser {
        cursor: Cursor::new(text)?,
        life: Life::default(),
        fragments: Vec::new(),
    };
    while parser.cursor.peek() == "fragment" {
        parser.fragment()?;
    }
    for word in ["lifecycle", "!", "{"] {
        parser.cursor.need(word)?;
    }
    parser.life.volume = parser.cursor.eat("volume");
    if !parser.life.volume {
        parser.cursor.need("resource")?;
    }
    parser.life.name = parser.cursor.ident()?;
    parser.cursor.need(";")?;
    while !parser.cursor.eat("}") {
        let section = parser.cursor.ident()?;
        if section == "allow" {
            parser.allow()?;
            continue;
        }
        if section == "use" {
            parser.used()?;
            continue;
        }
        // Leftovers of older versions are in no world.
        if section == "lock" && parser.cursor.text().is_some() {
            parser.cursor.need(";")?;
            continue;
        }
        parser.cursor.need("{")?;
        parser.section(&section)?;
        parser.life.sections.push(section);
    }
    parser.share();
    once::add_notes(&mut parser.life);
    if !parser.life.volume {
        owners_are_needed(&mut parser.life);
    }
    parser.life.mentioned = mentioned(&parser.life);
    makings_are_needed(&mut parser.life);
    write_out(&mut parser.life);
    Ok(parser.life)
}

impl Parser {
    fn section(&mut self, section: &str) -> Parsed<()> {
        let line: fn(&mut Parser) -> Parsed<()> = match section {
            "observe" => Parser::input,
            "facts" => Parser::fact,
            "states" => Parser::state,
            "effects" => Parser::effect,
            "promises" => Parser::promise,
            "teardown" => {
                self.life.teardown = true;
                Parser::teardown
            }
            "transitions" => {
                self.life.edges.get_or_insert_default();
                Parser::edge
            }
            "properties" => Parser::property,
            "status" => Parser::status,
            "rpc" => Parser::rpc,
            "retired" => return self.skip_block(),
            _ => {
                self.life.unknown_sections.push(section.to_owned());
                return self.skip_block();
            }
        };
        while !self.cursor.eat("}") {
            line(self)?;
        }
        Ok(())
    }

    fn allow(&mut self) -> Parsed<()> {
        let (code, item) = (self.cursor.ident()?, self.cursor.ident()?);
        if self.cursor.text().is_none_or(|why| why.trim().is_empty()) {
            return Err(Broken(format!("`allow {code} {item}` has no reason")));
        }
        self.life.allows.push((code, item));
        self.cursor.need(";")
    }

    fn skip_block(&mut self) -> Parsed<()> {
        let mut depth = 1;
        while depth > 0 {
            match self.cursor.next()?.as_str() {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
        }
        Ok(())
    }

    /// `30s`, or `spec.interval else 30s min 5s`.
    fn span(&mut self) -> Parsed<Span> {
        let begins = self.cursor.peek().chars().next();
        if begins.is_some_and(|c| c.is_ascii_digit()) {
            let usual = self.time()?;
            return Ok(Span {
                path: None,
                usual,
                min: None,
            });
        }
        let path = Some(self.cursor.path()?);
        self.cursor.need("else")?;
        let usual = self.time()?;
        let min = match self.cursor.eat("min") {
            true => Some(self.time()?),
            false => None,
        };
        Ok(Span { path, usual, min })
    }

    /// Milliseconds.
    fn time(&mut self) -> Parsed<u64> {
        let word = self.cursor.next()?;
        let units = [("min", 60_000), ("ms", 1), ("s", 1_000), ("h", 3_600_000)];
        let read = units.iter().find_map(|(unit, factor)| {
            let number: u64 = word.strip_suffix(unit)?.parse().ok()?;
            Some(number * factor)
        });
        read.ok_or_else(|| Broken(format!("`{word}` is no time")))
    }

    fn given(&mut self) -> Parsed<Option<Pred>> {
        if self.cursor.eat("given") {
            self.cursor.pred().map(Some)
        } else {
            Ok(None)
        }
    }

    fn sets(&mut self) -> Parsed<Vec<Assign>> {
        let mut alternatives = Vec::new();
        loop {
            self.cursor.need("{")?;
            let mut assign = Vec::new();
            while !self.cursor.eat("}") {
                let fact = self.cursor.ident()?;
                self.cursor.need("=")?;
                assign.push((fact, self.cursor.ident()?));
                self.cursor.eat(",");
            }
            alternatives.push(assign);
            if !self.cursor.eat("or") {
                return Ok(alternatives);
            }
        }
    }

    fn input(&mut self) -> Parsed<()> {
        let name = self.cursor.ident()?;
        self.cursor.need(":")?;
        let kinds = [
            "owned", "shared", "part", "record", "poll", "probe", "clock",
        ];
        let own = if kinds.contains(&self.cursor.peek()) {
            self.cursor.next()?
        } else {
            String::new()
        };
        if own == "owned" && self.cursor.eat("{") {
            return self.group(name);
        }
        self.observed(name, own)
    }

    /// Parses the text behind the name of an input and behind our relation to it.
    fn observed(&mut self, name: String, own: String) -> Parsed<()> {
        let is_note = own == "record" && self.cursor.peek() == "of";
        let own = if is_note { "noted".to_owned() } else { own };
        let many = self.cursor.eat("[");
        let kind = match own.as_str() {
            "clock" | "noted" => String::new(),
            _ => self.cursor.path()?,
        };
        if many {
            self.cursor.need("]")?;
        }
        let mut input = Input {
            name,
            own,
            many,
            kind,
            ..Input::default()
        };
        if self.cursor.eat("of") {
            let other = Some(self.cursor.ident()?);
            match input.own.as_str() {
                "poll" => input.provider = other,
                _ if is_note => input.tells = other,
                _ => input.of = other,
            }
        }
        if self.cursor.eat("without") {
            self.cursor.need("controller")?;
        }
        if self.cursor.eat("by") {
            self.lookup(&mut input)?;
        }
        if self.cursor.eat("every") {
            input.every = Some(self.span()?);
        }
        if self.cursor.eat("exclusive") {
            input.exclusive = true;
            self.cursor.path()?;
            while self.cursor.eat(",") {
                self.cursor.path()?;
            }
        }
        if self.cursor.eat("retain") {
            input.retained = true;
            if self.cursor.eat("when") {
                input.retain = Some(self.cursor.pred()?);
            }
        }
        input.given = self.given()?;
        self.cursor.need(";")?;
        self.life.inputs.push(input);
        Ok(())
    }

    fn lookup(&mut self, input: &mut Input) -> Parsed<()> {
        input.by = self.cursor.peek().to_owned();
        match self.cursor.ident()?.as_str() {
            "name" => {
                input.paths = vec![self.cursor.path()?];
                input.optional = self.cursor.eat("?");
            }
            "names" | "refs" => {
                self.cursor.need("of")?;
                input.from = self.cursor.idents()?;
            }
            "ref" => {
                if self.cursor.eat("from") {
                    input.from = self.cursor.idents()?;
                }
            }
            "labels" => {
                self.cursor.need("{")?;
                while !self.cursor.eat("}") {
                    let key = self.cursor.path()?;
                    self.cursor.need("=")?;
                    let value = self.cursor.path()?;
                    input.by = format!("{} {key}={value}", input.by);
                    input.paths.push(value);
                    self.cursor.eat(",");
                }
            }
            "owner" => input.by_owner = true,
            "namespace" => {}
            first => {
                let mut path = first.to_owned();
                while self.cursor.eat(".") {
                    path = format!("{path}.{}", self.cursor.ident()?);
                }
                if self.cursor.eat("=") {
                    path = self.cursor.path()?;
                    input.by = "=".to_owned();
                }
                input.paths = vec![path];
                while self.cursor.eat(",") {
                    input.paths.push(self.cursor.path()?);
                }
            }
        }
        Ok(())
    }

    fn fact(&mut self) -> Parsed<()> {
        if self.cursor.eat("never") {
            let never = self.cursor.pred()?;
            self.life.nevers.push(never);
            return self.cursor.need(";");
        }
        if self.cursor.eat("let") {
            let name = self.cursor.ident()?;
            self.cursor.need(":")?;
            self.cursor.skip_type()?;
            self.cursor.need("from")?;
            let value = Let {
                name,
                from: self.cursor.idents()?,
                given: self.given()?,
                mint: None,
            };
            self.cursor.need(";")?;
            self.life.lets.push(value);
            return Ok(());
        }
        if self.cursor.peek() == "mint" && ![":", "="].contains(&self.cursor.second()) {
            return self.mint();
        }
        if self.cursor.second() == "=" {
            let name = self.cursor.ident()?;
            self.cursor.need("=")?;
            let pred = self.cursor.pred()?;
            self.life.derived.push((name, pred));
            return self.cursor.need(";");
        }
        let held = self.cursor.eat("held");
        let name = self.cursor.ident()?;
        self.cursor.need(":")?;
        let counts = self.cursor.peek() == "count" && self.cursor.second() == "{";
        if counts {
            self.cursor.next()?;
        }
        let (domain, free) = self.domain()?;
        self.cursor.need(if counts { "of" } else { "from" })?;
        let mut fact = Fact {
            name,
            domain: domain.clone().unwrap_or_default(),
            from: self.sources()?,
            chain: Vec::new(),
            held,
            counts,
            free,
        };
        while self.cursor.eat("given") {
            let given = self.cursor.pred()?;
            let other = if self.cursor.eat("else") {
                Some(self.cursor.ident()?)
            } else {
                None
            };
            fact.chain.push((given, other));
        }
        self.cursor.need(";")?;
        if domain.is_none() {
            self.life.infinite.push(fact.name);
        } else {
            self.life.facts.push(fact);
        }
        Ok(())
    }

    /// Names, or fields of the request.
    fn sources(&mut self) -> Parsed<Vec<String>> {
        let mut all = Vec::new();
        loop {
            let name = self.cursor.ident()?;
            let field = name == "request" && self.cursor.eat(".");
            all.push(match field {
                true => format!("{name}.{}", self.cursor.ident()?),
                false => name,
            });
            if !self.cursor.eat(",") {
                return Ok(all);
            }
        }
    }

    /// The values, if they are finitely many, and those left of the bar.
    fn domain(&mut self) -> Parsed<(Names, Names)> {
        if !self.cursor.eat("{") {
            let named = self.cursor.ident()?;
            let boolean = vec!["false".to_owned(), "true".to_owned()];
            return Ok(((named == "bool").then_some(boolean), None));
        }
        let mut values = self.cursor.idents()?;
        let mut free = None;
        if self.cursor.eat("|") {
            free = Some(values.clone());
            values.extend(self.cursor.idents()?);
        }
        self.cursor.need("}")?;
        Ok((Some(values), free))
    }

    fn state(&mut self) -> Parsed<()> {
        if self.cursor.eat("use") {
            return self.shared_states();
        }
        let goal = self.cursor.eat("goal");
        let name = self.cursor.ident()?;
        self.cursor.need("when")?;
        let when = self.cursor.pred()?;
        let phase = if self.cursor.eat("=>") {
            Some(self.cursor.ident()?)
        } else {
            None
        };
        let even = phase.is_some() && self.cursor.eat("even");
        if even {
            self.cursor.need("deleting")?;
        }
        let wakes = if self.cursor.eat("wakes") {
            Some(self.cursor.idents()?)
        } else {
            None
        };
        let overdue = if self.cursor.eat("overdue") {
            Some(self.span()?)
        } else {
            None
        };
        self.cursor.need(";")?;
        self.life.states.push(State {
            name,
            goal,
            when,
            phase,
            even,
            wakes,
            overdue,
        });
        Ok(())
    }

    fn effect(&mut self) -> Parsed<()> {
        let mut named = None;
        if self.cursor.second() == ":" {
            named = Some(self.cursor.ident()?);
            self.cursor.need(":")?;
        }
        let verb = self.cursor.ident()?;
        if !["apply", "delete", "call", "adopt", "create"].contains(&verb.as_str()) {
            return Err(Broken(format!("`{verb}` is no verb")));
        }
        let each = self.cursor.eat("each");
        let on = self.cursor.ident()?;
        let name = named.unwrap_or_else(|| format!("{verb}_{on}"));
        let mut effect = Effect {
            name,
            verb,
            each,
            on,
            lets_go: false,
            from: Vec::new(),
            when: None,
            sets: Vec::new(),
            undo: None,
            key: None,
        };
        if effect.verb == "adopt" && self.cursor.eat("without") {
            self.cursor.need("retain")?;
            effect.lets_go = true;
        }
        if self.cursor.eat("from") {
            effect.from = self.cursor.idents()?;
        }
        if self.cursor.eat("when") {
            effect.when = Some(self.cursor.pred()?);
        }
        if self.cursor.eat("sets") {
            effect.sets = self.sets()?;
        }
        if self.cursor.eat("undo") {
            effect.undo = Some(self.cursor.ident()?);
        }
        if self.cursor.eat("key") {
            effect.key = Some(self.cursor.path()?);
        }
        self.cursor.need(";")?;
        self.life.effects.push(effect);
        Ok(())
    }

    fn promise(&mut self) -> Parsed<()> {
        let name = self.cursor.ident()?;
        let mut claimed = Vec::new();
        if self.cursor.eat("claimed") {
            self.cursor.need("by")?;
            self.cursor.ident()?;
            self.cursor.need("in")?;
            claimed = self.either()?;
        }
        self.cursor.need(":")?;
        let when = self.cursor.pred()?;
        self.cursor.need("sets")?;
        let sets = self.sets()?;
        self.cursor.need(";")?;
        self.life.promises.push(Promise {
            name,
            claimed,
            when,
            sets,
        });
        Ok(())
    }

    /// Each source with each target; `_` is a source like any other.
    fn edge(&mut self) -> Parsed<()> {
        let from = self.either()?;
        self.cursor.need("->")?;
        let to = self.either()?;
        self.cursor.need(";")?;
        if from.len() > 1 && from.contains(&"_".to_owned()) {
            return Err(Broken("`_` stands alone".into()));
        }
        let edges = self.life.edges.get_or_insert_default();
        for begin in &from {
            edges.extend(to.iter().map(|end| (begin.clone(), end.clone())));
        }
        Ok(())
    }

    fn either(&mut self) -> Parsed<Vec<String>> {
        let mut names = vec![self.cursor.ident()?];
        while self.cursor.eat("|") {
            names.push(self.cursor.ident()?);
        }
        Ok(names)
    }

    fn property(&mut self) -> Parsed<()> {
        let word = self.cursor.ident()?;
        let property = match word.as_str() {
            _ if self.cursor.eat("before") => Property::Before(word, self.cursor.ident()?),
            "always" => {
                let pred = self.cursor.pred()?;
                let mut states = Vec::new();
                if self.cursor.eat("in") {
                    states = self.cursor.idents()?;
                }
                let rest = self.cursor.eat("at");
                if rest {
                    self.cursor.need("rest")?;
                }
                Property::Always { pred, states, rest }
            }
            "never" => {
                let effect = self.cursor.ident()?;
                self.cursor.need("while")?;
                let pred = self.cursor.pred()?;
                Property::Never { effect, pred }
            }
            "reaches" => {
                let mut to = vec![self.cursor.ident()?];
                while self.cursor.eat("|") {
                    to.push(self.cursor.ident()?);
                }
                self.cursor.need("from")?;
                let from = self.cursor.idents()?;
                Property::Reaches { to, from }
            }
            other => return Err(Broken(format!("`{other}` begins no property"))),
        };
        self.life.properties.push(property);
        self.cursor.need(";")
    }
}
