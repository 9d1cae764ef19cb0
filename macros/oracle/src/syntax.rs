//! A lifecycle as the oracle reads it: plain trees of strings.
//! Knows no syntax and no rule.

/// A predicate over facts. `refused(e)` is the fact `?e`; a bare name has no values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Pred {
    And(Box<Pred>, Box<Pred>),
    Or(Box<Pred>, Box<Pred>),
    Not(Box<Pred>),
    Is(String, Option<Vec<String>>),
}

impl Pred {
    /// Returns the questions of the predicate, in the order in which they are written.
    pub(crate) fn parts(&self) -> Vec<(&String, Option<&[String]>)> {
        match self {
            Pred::And(left, right) | Pred::Or(left, right) => {
                let mut parts = left.parts();
                parts.extend(right.parts());
                parts
            }
            Pred::Not(inner) => inner.parts(),
            Pred::Is(name, asked) => vec![(name, asked.as_deref())],
        }
    }

    /// The facts that the predicate mentions, in the order of their first mention.
    pub(crate) fn atoms(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for (name, _) in self.parts() {
            if !found.contains(name) {
                found.push(name.clone());
            }
        }
        found
    }
}

/// The atoms of a predicate that may be missing.
pub(crate) fn atoms(pred: Option<&Pred>) -> Vec<String> {
    pred.map(Pred::atoms).unwrap_or_default()
}

/// A length of time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Span {
    /// Path that holds the duration.
    pub(crate) path: Option<String>,
    /// Milliseconds that are written.
    pub(crate) usual: u64,
    /// Milliseconds behind `min`.
    pub(crate) min: Option<u64>,
}

impl Span {
    /// As little as it may be.
    pub(crate) fn least(&self) -> u64 {
        match (&self.path, self.min) {
            (None, _) => self.usual,
            (Some(_), min) => min.unwrap_or(0),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Input {
    pub(crate) name: String,
    /// `owned`, `shared`, `part`, `record`, `noted`, `poll`, `probe`, `clock`, `group`, or empty.
    pub(crate) own: String,
    pub(crate) many: bool,
    /// Its type, as it is written.
    pub(crate) kind: String,
    /// The first word of how it is found.
    pub(crate) by: String,
    pub(crate) optional: bool,
    /// Interval of the poll, if it is declared.
    pub(crate) every: Option<Span>,
    /// The other input that owns it.
    pub(crate) of: Option<String>,
    /// For a `record of`: the input with the recorded objects. The own word is then `noted`.
    pub(crate) tells: Option<String>,
    /// Names from which a method looks it up.
    pub(crate) from: Vec<String>,
    /// The fields of the object or of other inputs that it is found by.
    pub(crate) paths: Vec<String>,
    /// True if it stays when its owner goes. If that is so only sometimes, `retain` has the
    /// predicate.
    pub(crate) retained: bool,
    pub(crate) retain: Option<Pred>,
    pub(crate) given: Option<Pred>,
    /// Path of the object that has a value where this one is wanted.
    pub(crate) wanted_by: Option<String>,
    /// The group that it is judged with.
    pub(crate) group: Option<String>,
    /// For a member: true if its builder may return none.
    pub(crate) may_lack: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Fact {
    pub(crate) name: String,
    pub(crate) domain: Vec<String>,
    pub(crate) from: Vec<String>,
    pub(crate) chain: Vec<(Pred, Option<String>)>,
    pub(crate) held: bool,
    /// Values left of the bar, if it has one.
    pub(crate) free: Option<Vec<String>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Let {
    pub(crate) name: String,
    /// Sources of the value. For a minted value, the keeper comes first.
    pub(crate) from: Vec<String>,
    pub(crate) given: Option<Pred>,
    pub(crate) mint: Option<Mint>,
}

#[derive(Clone, Debug)]
pub(crate) struct Mint {
    pub(crate) keeper: String,
    /// Predicate under which the value is made anew.
    pub(crate) until: Option<Pred>,
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) name: String,
    pub(crate) goal: bool,
    pub(crate) when: Pred,
    pub(crate) phase: Option<String>,
    /// True if a deletion waits in this state, too.
    pub(crate) even: bool,
    pub(crate) wakes: Option<Vec<String>>,
    /// The time that is written, if one is.
    pub(crate) overdue: Option<Span>,
}

impl State {
    /// Returns true if another controller manages the objects in this state.
    pub(crate) fn is_ignored(&self) -> bool {
        self.phase.as_deref() == Some("Ignored")
    }

    /// Returns true if a user wants nothing done for a while.
    pub(crate) fn is_suspended(&self) -> bool {
        self.phase.as_deref() == Some("Suspended")
    }
}

pub(crate) type Assign = Vec<(String, String)>;

#[derive(Clone, Debug)]
pub(crate) struct Effect {
    pub(crate) name: String,
    pub(crate) verb: String,
    pub(crate) each: bool,
    pub(crate) on: String,
    /// `without retain`
    pub(crate) lets_go: bool,
    pub(crate) from: Vec<String>,
    pub(crate) when: Option<Pred>,
    pub(crate) sets: Vec<Assign>,
    pub(crate) undo: Option<String>,
    pub(crate) key: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Promise {
    pub(crate) name: String,
    /// States of another lifecycle in which the promise is kept.
    pub(crate) claimed: Vec<String>,
    pub(crate) when: Pred,
    pub(crate) sets: Vec<Assign>,
}

/// One step of a teardown.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) effect: String,
    pub(crate) when: Option<Pred>,
    pub(crate) until: Pred,
}

#[derive(Clone, Debug)]
pub(crate) struct Clause {
    pub(crate) value: String,
    pub(crate) reason: Option<String>,
    /// The event that reports it.
    pub(crate) event: Option<String>,
    pub(crate) when: Option<Pred>,
}

#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub(crate) name: String,
    pub(crate) clauses: Vec<Clause>,
}

/// Property that the author claims.
#[derive(Clone, Debug)]
pub(crate) enum Property {
    Always {
        pred: Pred,
        states: Vec<String>,
        rest: bool,
    },
    Never {
        effect: String,
        pred: Pred,
    },
    Before(String, String),
    Reaches {
        to: Vec<String>,
        from: Vec<String>,
    },
}

impl Property {
    /// As findings name it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Always { states, rest, .. } => {
                let mut name = "always".to_owned();
                if !states.is_empty() {
                    name += " in ";
                    name += &states.join(", ");
                }
                if *rest {
                    name += " at rest";
                }
                name
            }
            Self::Never { effect, .. } => format!("never {effect}"),
            Self::Before(first, then) => format!("{first} before {then}"),
            Self::Reaches { to, .. } => format!("reaches {}", to.join(" | ")),
        }
    }
}

/// Answer to one call of a volume.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) to: Option<Pred>,
    pub(crate) by: Vec<String>,
    /// The code after `else`.
    pub(crate) within: Option<String>,
    pub(crate) refusals: Vec<(Pred, String)>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Life {
    pub(crate) name: String,
    pub(crate) volume: bool,
    /// Meanings of the preconditions of the interface; `None` if one never applies.
    pub(crate) preconditions: Vec<(String, Option<Pred>)>,
    pub(crate) calls: Vec<Call>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) facts: Vec<Fact>,
    /// Names for predicates, as they are written.
    pub(crate) derived: Vec<(String, Pred)>,
    pub(crate) lets: Vec<Let>,
    pub(crate) nevers: Vec<Pred>,
    pub(crate) states: Vec<State>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) promises: Vec<Promise>,
    /// True if the section `teardown` is present.
    pub(crate) teardown: bool,
    pub(crate) steps: Vec<Step>,
    /// Predicates under which the remaining resources are given up.
    pub(crate) abandoned: Vec<Pred>,
    /// From every state where the first name is `_`.
    pub(crate) edges: Option<Vec<(String, String)>>,
    pub(crate) properties: Vec<Property>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) ready: Option<Vec<String>>,
    /// Reasons of the roll-up, and of the situations that no state describes.
    pub(crate) reasons: Vec<(&'static str, String)>,
    /// Columns with their paths.
    pub(crate) columns: Vec<(String, String)>,
    /// The facts and names for predicates that fragments bring.
    pub(crate) offered: Vec<String>,
    /// The names for predicates that something mentions.
    pub(crate) mentioned: Vec<String>,
    /// `kstatus;`
    pub(crate) kstatus: bool,
    /// The names that each `field` is computed from.
    pub(crate) fields: Vec<(String, Vec<String>)>,
    /// Warnings that do not count: each code with the item that it names.
    pub(crate) allows: Vec<(String, String)>,
}

impl Input {
    /// Everything that decides which objects are found.
    pub(crate) fn lookup(&self) -> Vec<String> {
        self.from.iter().chain(&self.paths).cloned().collect()
    }
}

impl Life {
    pub(crate) fn input(&self, name: &str) -> Option<&Input> {
        self.inputs.iter().find(|input| input.name == name)
    }

    /// The members of a group.
    pub(crate) fn members(&self, group: &str) -> impl Iterator<Item = &Input> {
        let of = move |input: &&Input| input.group.as_deref() == Some(group);
        self.inputs.iter().filter(of)
    }

    /// Returns true if an object of an input may be kept without an owner reference.
    pub(crate) fn keeps(&self, input: &Input) -> bool {
        input.own == "owned" && (input.retained || self.adopts(&input.name))
    }

    /// Returns true if an effect adopts the objects of an input.
    pub(crate) fn adopts(&self, input: &str) -> bool {
        let mut effects = self.effects.iter();
        effects.any(|effect| effect.verb == "adopt" && effect.on == input)
    }

    /// Returns true if an effect creates the objects of an input, once.
    pub(crate) fn creates(&self, input: &str) -> bool {
        let mut effects = self.effects.iter();
        effects.any(|effect| effect.verb == "create" && effect.on == input)
    }

    /// Returns the record of the objects made for an input, if any of them are made once.
    pub(crate) fn noted(&self, input: &str) -> Option<&Input> {
        let mut records = self.inputs.iter();
        let told = records.find(|one| one.tells.as_deref() == Some(input));
        told.filter(|_| self.creates(input))
    }

    /// Returns the input with the verdict that shows the result of a write.
    pub(crate) fn verdict_input<'a>(&'a self, effect: &'a Effect) -> &'a str {
        let tells = self
            .input(&effect.on)
            .and_then(|input| input.tells.as_deref());
        tells.unwrap_or(&effect.on)
    }

    pub(crate) fn fact(&self, name: &str) -> Option<&Fact> {
        self.facts.iter().find(|fact| fact.name == name)
    }

    /// Returns the name of the clock.
    pub(crate) fn clock(&self) -> Option<&str> {
        let mut clocks = self.inputs.iter().filter(|input| input.own == "clock");
        clocks.next().map(|input| input.name.as_str())
    }

    /// Returns the predicate that a name is declared for. A name that is otherwise in use stands
    /// for none.
    pub(crate) fn derived(&self, name: &str) -> Option<&Pred> {
        let taken = self.input(name).is_some() || self.fact(name).is_some();
        if taken || self.value(name).is_some() {
            return None;
        }
        let mut all = self.derived.iter();
        all.find(|(other, _)| other == name).map(|(_, pred)| pred)
    }

    pub(crate) fn value(&self, name: &str) -> Option<&Let> {
        self.lets.iter().find(|value| value.name == name)
    }

    pub(crate) fn state(&self, name: &str) -> Option<&State> {
        self.states.iter().find(|state| state.name == name)
    }

    /// The number of the state that a target names, if it names one.
    pub(crate) fn target_state(&self, target: &Pred) -> Option<usize> {
        let Pred::Is(name, None) = target else {
            return None;
        };
        self.states.iter().position(|state| state.name == *name)
    }

    pub(crate) fn effect(&self, name: &str) -> Option<&Effect> {
        self.effects.iter().find(|effect| effect.name == name)
    }
}

/// The objects of an input are one thing, the fact that it brings another.
pub(crate) fn objects(name: &str) -> String {
    format!("[{name}]")
}
