//! A lifecycle as lines that can still be changed: a guard is a list of atoms, everything else is words.
//! Printing it gives the text that both sides read.

use std::fmt::{self, Display, Formatter};

/// Atoms that all must hold; an empty guard always holds.
pub(crate) type Guard = Vec<String>;
pub(crate) type Sets = Vec<Vec<(String, String)>>;

/// Words of their own.
pub(super) fn to_strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Alternatives that each set one fact.
pub(super) fn alternatives(fact: &str, values: &[&str]) -> Sets {
    values
        .iter()
        .map(|value| vec![(fact.to_owned(), (*value).to_owned())])
        .collect()
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) head: String,
    pub(crate) lookup: String,
    pub(crate) given: Guard,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Fact {
    pub(crate) held: bool,
    pub(crate) name: String,
    pub(crate) domain: String,
    pub(crate) from: Vec<String>,
    pub(crate) givens: Vec<(Guard, Option<String>)>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Let {
    pub(crate) name: String,
    pub(crate) from: Vec<String>,
    /// Of a minted value, where it is made anew.
    pub(crate) given: Guard,
    /// Keeper of the value, if it is minted.
    pub(crate) keeper: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) goal: bool,
    pub(crate) name: String,
    pub(crate) when: Guard,
    pub(crate) phase: Option<String>,
    pub(crate) even: bool,
    pub(crate) wakes: Vec<String>,
    pub(crate) overdue: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Effect {
    pub(crate) name: Option<String>,
    /// Verb, `each` and target.
    pub(crate) head: String,
    pub(crate) from: Vec<String>,
    pub(crate) when: Guard,
    pub(crate) sets: Sets,
    pub(crate) undo: Option<String>,
    pub(crate) key: Option<String>,
}

impl Effect {
    pub(crate) fn target(&self) -> String {
        self.head.rsplit(' ').next().unwrap_or_default().to_owned()
    }

    pub(crate) fn known_as(&self) -> String {
        let verb = self.head.split(' ').next().unwrap_or_default();
        self.name
            .clone()
            .unwrap_or_else(|| format!("{verb}_{}", self.target()))
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Promise {
    pub(crate) name: String,
    pub(crate) when: Guard,
    pub(crate) sets: Sets,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Clause {
    pub(crate) value: String,
    pub(crate) reason: Option<String>,
    /// After a reason only.
    pub(crate) message: Option<String>,
    pub(crate) event: Option<String>,
    /// `None`: `otherwise`.
    pub(crate) when: Option<Guard>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Condition {
    pub(crate) name: String,
    pub(crate) clauses: Vec<Clause>,
}

/// How edges are put together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum EdgeForm {
    /// One a line.
    #[default]
    Each,
    /// The targets of a source, and all sources that have the same.
    BySource,
    /// The sources of a target.
    ByTarget,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Sketch {
    pub(crate) inputs: Vec<Input>,
    pub(crate) lets: Vec<Let>,
    pub(crate) facts: Vec<Fact>,
    /// Names for predicates, and the predicates that they stand for.
    pub(crate) derived: Vec<(String, String)>,
    pub(crate) nevers: Vec<Guard>,
    pub(crate) states: Vec<State>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) promises: Vec<Promise>,
    /// The lines of `teardown`; `None` if the section is absent.
    pub(crate) teardown: Option<Vec<String>>,
    /// From every state where the first name is `_`.
    pub(crate) edges: Option<Vec<(String, String)>>,
    pub(crate) edge_form: EdgeForm,
    /// The lines of `properties`.
    pub(crate) properties: Vec<String>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) ready: Vec<String>,
    /// Lines of `status` that no check of the graph reads.
    pub(crate) extras: Vec<String>,
    /// The lines of `rpc` of a volume; `None`: a resource.
    pub(crate) calls: Option<Vec<String>>,
    /// Warnings that its author allows: codes, each with an item.
    pub(crate) allows: Vec<(String, String)>,
}

fn all_of(guard: &Guard) -> String {
    let either = |atom: &String| {
        if atom.contains("||") && guard.len() > 1 {
            format!("({atom})")
        } else {
            atom.clone()
        }
    };
    guard.iter().map(either).collect::<Vec<_>>().join(" && ")
}

/// A guard with the word before it, or nothing.
fn guard_clause(word: &str, guard: &Guard) -> String {
    if guard.is_empty() {
        String::new()
    } else {
        format!(" {word} {}", all_of(guard))
    }
}

fn named(word: &str, names: &[String]) -> String {
    if names.is_empty() {
        String::new()
    } else {
        format!(" {word} {}", names.join(", "))
    }
}

fn maybe(word: &str, name: Option<&String>) -> String {
    name.map(|name| format!(" {word} {name}"))
        .unwrap_or_default()
}

fn sets(sets: &Sets) -> String {
    let assign = |assign: &Vec<(String, String)>| {
        let pairs: Vec<String> = assign
            .iter()
            .map(|(fact, value)| format!("{fact} = {value}"))
            .collect();
        format!("{{ {} }}", pairs.join(", "))
    };
    let all: Vec<String> = sets.iter().map(assign).collect();
    if all.is_empty() {
        String::new()
    } else {
        format!(" sets {}", all.join(" or "))
    }
}

/// Returns all second names of each first one, in their order.
fn grouped<'a>(
    pairs: impl Iterator<Item = (&'a String, &'a String)>,
) -> Vec<(&'a String, Vec<&'a String>)> {
    let mut groups: Vec<(&String, Vec<&String>)> = Vec::new();
    for (first, second) in pairs {
        match groups.iter_mut().find(|(name, _)| *name == first) {
            Some((_, seconds)) => seconds.push(second),
            None => groups.push((first, vec![second])),
        }
    }
    groups
}

fn section(f: &mut Formatter<'_>, name: &str, lines: &[String]) -> fmt::Result {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(f, "    {name} {{")?;
    for line in lines {
        writeln!(f, "        {line}")?;
    }
    writeln!(f, "    }}")
}

impl Sketch {
    fn observe(&self) -> Vec<String> {
        let line = |input: &Input| {
            let lookup = if input.lookup.is_empty() {
                String::new()
            } else {
                format!(" by {}", input.lookup)
            };
            format!(
                "{}: {}{lookup}{};",
                input.name,
                input.head,
                guard_clause("given", &input.given)
            )
        };
        self.inputs.iter().map(line).collect()
    }

    fn questions(&self) -> Vec<String> {
        let value = |value: &Let| {
            if let Some(keeper) = &value.keeper {
                let from = named("from", &value.from);
                let until = guard_clause("until", &value.given);
                return format!("mint {}: Text in {keeper}{from}{until};", value.name);
            }
            format!(
                "let {}: Reach from {}{};",
                value.name,
                value.from.join(", "),
                guard_clause("given", &value.given)
            )
        };
        let fact = |fact: &Fact| {
            let held = if fact.held { "held " } else { "" };
            let given = |(given, other): &(Guard, Option<String>)| {
                guard_clause("given", given) + &maybe("else", other.as_ref())
            };
            let givens: String = fact.givens.iter().map(given).collect();
            let from = match fact.domain.starts_with("count") {
                true => format!("of {}", fact.from[0]),
                false => format!("from {}", fact.from.join(", ")),
            };
            format!("{held}{}: {} {from}{givens};", fact.name, fact.domain)
        };
        let mut lines: Vec<String> = self.lets.iter().map(value).collect();
        lines.extend(self.facts.iter().map(fact));
        let named = self.derived.iter();
        lines.extend(named.map(|(name, pred)| format!("{name} = {pred};")));
        lines.extend(
            self.nevers
                .iter()
                .map(|never| format!("never {};", all_of(never))),
        );
        lines
    }

    fn regions(&self) -> Vec<String> {
        let line = |state: &State| {
            let goal = if state.goal { "goal " } else { "" };
            let even = if state.even && state.phase.is_some() {
                " even deleting"
            } else {
                ""
            };
            let tail = maybe("=>", state.phase.as_ref()) + even + &named("wakes", &state.wakes);
            let overdue = maybe("overdue", state.overdue.as_ref());
            format!(
                "{goal}{} when {}{tail}{overdue};",
                state.name,
                all_of(&state.when)
            )
        };
        self.states.iter().map(line).collect()
    }

    fn writes(&self) -> Vec<String> {
        let line = |effect: &Effect| {
            let name = effect
                .name
                .as_ref()
                .map(|name| format!("{name}: "))
                .unwrap_or_default();
            let head = format!("{name}{}{}", effect.head, named("from", &effect.from));
            let tail = maybe("undo", effect.undo.as_ref()) + &maybe("key", effect.key.as_ref());
            format!(
                "{head}{}{}{tail};",
                guard_clause("when", &effect.when),
                sets(&effect.sets)
            )
        };
        self.effects.iter().map(line).collect()
    }

    fn transitions(&self) -> Vec<String> {
        let edges = self.edges.iter().flatten();
        let turned = edges.clone().map(|(from, to)| (to, from));
        let lines: Vec<(Vec<&String>, Vec<&String>)> = match self.edge_form {
            EdgeForm::Each => edges.map(|(from, to)| (vec![from], vec![to])).collect(),
            EdgeForm::BySource => {
                let mut lines: Vec<(Vec<&String>, Vec<&String>)> = Vec::new();
                for (from, to) in grouped(edges.map(|(from, to)| (from, to))) {
                    let alone = |name: &&String| *name == "_";
                    let same = |line: &&mut (Vec<&String>, Vec<&String>)| {
                        line.1 == to && !line.0.iter().any(alone) && !alone(&from)
                    };
                    match lines.iter_mut().find(same) {
                        Some(line) => line.0.push(from),
                        None => lines.push((vec![from], to)),
                    }
                }
                lines
            }
            EdgeForm::ByTarget => {
                let (whole, single): (Vec<_>, Vec<_>) = turned.partition(|(_, from)| *from == "_");
                let single = grouped(single.into_iter()).into_iter();
                let single = single.map(|(to, from)| (from, vec![to]));
                let whole = whole.into_iter().map(|(to, from)| (vec![from], vec![to]));
                single.chain(whole).collect()
            }
        };
        let either = |names: Vec<&String>| {
            let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
            names.join(" | ")
        };
        let line = |(from, to)| format!("{} -> {};", either(from), either(to));
        lines.into_iter().map(line).collect()
    }

    fn status(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for condition in &self.conditions {
            lines.push(format!("condition {} {{", condition.name));
            for clause in &condition.clauses {
                let quoted = |word: &String| format!("\"{word}\"");
                let reason = clause
                    .reason
                    .as_ref()
                    .map(|reason| format!(" {}", quoted(reason)))
                    .unwrap_or_default();
                let message = clause
                    .message
                    .as_ref()
                    .filter(|_| clause.reason.is_some())
                    .map(|message| format!(" {}", quoted(message)))
                    .unwrap_or_default();
                let event = maybe("event", clause.event.as_ref().map(quoted).as_ref());
                let when = clause
                    .when
                    .as_ref()
                    .map_or(" otherwise".to_owned(), |when| guard_clause("when", when));
                lines.push(format!(
                    "    {}{reason}{message}{event}{when};",
                    clause.value
                ));
            }
            lines.push("}".to_owned());
        }
        if !self.ready.is_empty() {
            lines.push(format!("ready from {};", self.ready.join(", ")));
        }
        lines.extend(self.extras.iter().cloned());
        lines
    }
}

impl Display for Sketch {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kind = self.calls.as_ref().map_or("resource", |_| "volume");
        writeln!(f, "lifecycle! {{\n    {kind} Thing;")?;
        section(f, "observe", &self.observe())?;
        section(f, "facts", &self.questions())?;
        section(f, "states", &self.regions())?;
        section(f, "effects", &self.writes())?;
        let promise = |promise: &Promise| {
            format!(
                "{}: {}{};",
                promise.name,
                all_of(&promise.when),
                sets(&promise.sets)
            )
        };
        section(
            f,
            "promises",
            &self.promises.iter().map(promise).collect::<Vec<_>>(),
        )?;
        if let Some(lines) = &self.teardown {
            if lines.is_empty() {
                writeln!(f, "    teardown {{ }}")?;
            }
            section(f, "teardown", lines)?;
        }
        if self.edges.is_some() {
            let lines = self.transitions();
            if lines.is_empty() {
                writeln!(f, "    transitions {{ }}")?;
            }
            section(f, "transitions", &lines)?;
        }
        section(f, "properties", &self.properties)?;
        section(f, "status", &self.status())?;
        section(f, "rpc", self.calls.as_deref().unwrap_or_default())?;
        for (code, item) in &self.allows {
            writeln!(f, "    allow {code} {item} \"it is meant so\";")?;
        }
        writeln!(f, "}}")
    }
}
