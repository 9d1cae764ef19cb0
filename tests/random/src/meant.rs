//! A declaration that is accepted, and in what another one differs from it: what authors meet, and what is meant in each world.

mod look;
mod met;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lifecycle_macros_core::errors::Severity;
use lifecycle_macros_core::model::{self, VarId};
use lifecycle_macros_core::space::enumeration::enumerate;
use lifecycle_macros_core::space::permission::Permissions;
use lifecycle_macros_core::space::summary::Summary;
use lifecycle_macros_core::{check, expand};
use lifecycle_oracle::meaning::Named;
use lifecycle_runtime::machine::ir::{Lifecycle, Origin, Var};
use lifecycle_runtime::machine::world::World;
use proc_macro2::TokenStream;

use crate::declared::Declared;
use crate::mutants::Edge;
use crate::printed;
use crate::watched::called;
use look::{Look, View};

/// What two declarations may differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aspect {
    /// What is asked and looked at, where.
    Asked,
    /// Which of several effects says how an object is to be.
    Planned,
    /// What inputs, values, facts and effects are.
    Tables,
    /// The state, where that is more than a name: a move or a status goes by it.
    State,
    /// What is done.
    Step,
    /// What is left, or given up, when the object goes.
    Left,
    /// The status or the reason of a condition.
    Condition,
    /// The roll-up.
    Ready,
    /// What the status tells beside conditions.
    Fields,
    /// The sentence of a condition, or the event of a change into it.
    Sentence,
    /// After how long it has taken too long.
    Overdue,
    /// The phase, where no status tells it.
    Phase,
    /// Which worlds there may be.
    Worlds,
    /// What only helps.
    Wakes,
    /// What is wanted.
    Goal,
    /// What the world outside does.
    Promises,
    /// Which state may follow.
    Edges,
    /// What `kubectl get` shows.
    Columns,
}

impl Aspect {
    /// Whether a pass goes by it: what it does, or what it tells. All else is for the checker, and for people who read the declaration.
    pub fn acts(self) -> bool {
        self <= Self::Overdue
    }

    /// As tables say it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Asked => "what is asked",
            Self::Planned => "which effect decides",
            Self::Tables => "what things are",
            Self::State => "the state",
            Self::Step => "what is done",
            Self::Left => "what is left",
            Self::Condition => "a condition",
            Self::Ready => "the roll-up",
            Self::Fields => "a field",
            Self::Sentence => "a sentence or an event",
            Self::Overdue => "what takes too long",
            Self::Phase => "the phase",
            Self::Worlds => "the worlds",
            Self::Wakes => "what helps",
            Self::Goal => "the goal",
            Self::Promises => "what is promised",
            Self::Edges => "the transitions",
            Self::Columns => "the columns",
        }
    }
}

/// A declaration that is accepted.
#[derive(Debug)]
pub struct Declaration {
    /// As the macro is called.
    pub text: String,
    /// As the macro prints it.
    pub ir: &'static Lifecycle,
    /// What methods are given.
    pub declared: Arc<Declared>,
    worlds: Vec<Vec<u8>>,
    looks: Vec<Look>,
    tables: BTreeMap<(Aspect, String), String>,
}

/// What the compiler makes of a declaration.
#[derive(Debug)]
pub struct Compiled {
    body: String,
    model: model::Lifecycle,
    /// Whether it is warned of something.
    pub is_warned: bool,
}

impl Compiled {
    /// Checks what stands between the braces of the macro.
    ///
    /// # Errors
    /// The rule that refuses it, the first by position.
    ///
    /// # Panics
    /// If it does not consist of tokens.
    pub fn of(body: String) -> Result<Self, &'static str> {
        let tokens: TokenStream = body.parse().expect("mutants consist of tokens");
        let checked = check(tokens);
        let found = checked.diagnostics;
        let error = found.iter().find(|one| one.severity == Severity::Error);
        match (error, checked.model) {
            (None, Some(model)) => Ok(Self {
                body,
                model,
                is_warned: !found.is_empty(),
            }),
            (Some(error), _) => Err(error.code),
            (None, None) => panic!("no model and no error: {body}"),
        }
    }

    fn expanded(&self) -> TokenStream {
        let tokens: TokenStream = self.body.parse().expect("it consisted of tokens");
        expand(tokens)
    }

    /// What an author's code meets: types and the trait, without documentation.
    pub fn met(&self) -> BTreeSet<String> {
        met::met(self.expanded())
    }

    /// The edges between declared states that effects and promises cause.
    ///
    /// # Panics
    /// Never: it was checked.
    pub fn caused(&self) -> Vec<Edge> {
        let summary = Summary::of(&self.model).expect("it was checked");
        let name = |state: &model::StateId| self.model.states[state.0].name.to_string();
        let edges = summary.edges.keys();
        edges.map(|(from, to)| (name(from), name(to))).collect()
    }

    /// With all that follows from it.
    ///
    /// # Panics
    /// If it says what random lifecycles do not say yet.
    pub fn meant(&self) -> Declaration {
        let ir = printed::read(self.expanded());
        let declared = Arc::new(Declared::of(&self.model));
        let worlds = self.worlds();
        let view = View::of(ir);
        let looks = worlds.iter().map(|world| view.look(&world_of(ir, world)));
        Declaration {
            text: format!("lifecycle! {{\n{}\n}}", self.body),
            looks: looks.collect(),
            tables: tables::of(ir, &declared),
            ir,
            declared,
            worlds,
        }
    }

    fn worlds(&self) -> Vec<Vec<u8>> {
        let permissions = Permissions::of(&self.model);
        let worlds = enumerate(&self.model, &permissions).expect("it was checked");
        let vars = self.model.vars.len();
        let all = worlds.indexes().map(|index| {
            let world = worlds.get(index);
            let value = |var| u8::try_from(world.value(VarId(var))).expect("few values");
            (0..vars).map(value).collect()
        });
        all.collect()
    }
}

impl Declaration {
    /// In what another one differs that authors meet in the same way.
    pub fn differences(&self, other: &Self) -> BTreeSet<Aspect> {
        let names = self.tables.keys().chain(other.tables.keys());
        let unlike = names.filter(|name| self.tables.get(*name) != other.tables.get(*name));
        let mut all: BTreeSet<Aspect> = unlike.map(|(aspect, _)| *aspect).collect();
        let Some(mapped) = Mapped::of(other.ir, self.ir) else {
            all.insert(Aspect::Tables);
            return all;
        };
        let mine: BTreeMap<&Vec<u8>, &Look> = self.worlds.iter().zip(&self.looks).collect();
        let (here, there) = (View::of(self.ir), View::of(other.ir));
        let mut seen = BTreeSet::new();
        for (world, look) in other.worlds.iter().zip(&other.looks) {
            let world = mapped.there(world);
            match mine.get(&world) {
                Some(mine) => all.extend(mine.differences(look)),
                None => {
                    all.insert(Aspect::Worlds);
                    all.extend(here.look(&world_of(self.ir, &world)).differences(look));
                }
            }
            seen.insert(world);
        }
        for (world, look) in mine.into_iter().filter(|(world, _)| !seen.contains(*world)) {
            all.insert(Aspect::Worlds);
            let world = world_of(other.ir, &mapped.back(world));
            all.extend(look.differences(&there.look(&world)));
        }
        all
    }

    /// Worlds in which another one does or tells something else, so many at most, spread over all.
    pub fn disputed(&self, other: &Self, most: usize) -> Vec<Named> {
        let Some(mapped) = Mapped::of(other.ir, self.ir) else {
            return Vec::new();
        };
        let theirs = other.worlds.iter().map(|world| mapped.there(world));
        let all: BTreeSet<Vec<u8>> = self.worlds.iter().cloned().chain(theirs).collect();
        let (here, there) = (View::of(self.ir), View::of(other.ir));
        let is_disputed = |world: &Vec<u8>| {
            let mine = here.look(&world_of(self.ir, world));
            let other = there.look(&world_of(other.ir, &mapped.back(world)));
            mine.differences(&other).iter().any(|aspect| aspect.acts())
        };
        let disputed: Vec<Vec<u8>> = all.into_iter().filter(is_disputed).collect();
        let every = disputed.len().div_ceil(most.max(1)).max(1);
        let some = disputed.iter().step_by(every);
        some.map(|world| self.named(world)).collect()
    }

    fn named(&self, world: &[u8]) -> Named {
        let vars = self.ir.vars.iter().zip(world);
        let pairs = vars.map(|(var, value)| {
            let value = var.values[usize::from(*value)];
            (called(var), value.to_owned())
        });
        pairs.collect()
    }

    /// In what another one differs in one world.
    pub fn differences_in(&self, other: &Self, world: &Named) -> Vec<Aspect> {
        let look = |ir| Some(View::of(ir).look(&world_of(ir, &numbered(ir, world)?)));
        match (look(self.ir), look(other.ir)) {
            (Some(mine), Some(look)) => mine.differences(&look),
            _ => Vec::new(),
        }
    }
}

/// A world by name; `None` where a question is missing or has no such value.
fn numbered(ir: &Lifecycle, world: &Named) -> Option<Vec<u8>> {
    let value = |var: &Var| {
        let said = world.get(&called(var))?;
        let at = var.values.iter().position(|value| value == said)?;
        u8::try_from(at).ok()
    };
    ir.vars.iter().map(value).collect()
}

fn world_of(ir: &Lifecycle, values: &[u8]) -> World {
    let mut world = World::first(ir);
    let values = values.iter().enumerate();
    values.for_each(|(var, value)| world.set(var, *value));
    world
}

/// Where the questions of one description are in another, and their values.
struct Mapped {
    places: Vec<usize>,
    values: Vec<Vec<u8>>,
}

impl Mapped {
    /// `None` where one asks what the other does not ask.
    fn of(from: &Lifecycle, to: &Lifecycle) -> Option<Self> {
        let refuses = |origin: &Origin| matches!(origin, Origin::Refused(_));
        let mut mapped = Self {
            places: Vec::new(),
            values: Vec::new(),
        };
        for var in from.vars {
            let place = to.vars.iter().position(|other| {
                (other.name, refuses(&other.origin)) == (var.name, refuses(&var.origin))
            })?;
            let known = to.vars[place].values;
            let values = var.values.iter().map(|value| {
                let at = known.iter().position(|other| other == value)?;
                u8::try_from(at).ok()
            });
            mapped.places.push(place);
            mapped.values.push(values.collect::<Option<_>>()?);
        }
        (from.vars.len() == to.vars.len()).then_some(mapped)
    }

    fn there(&self, world: &[u8]) -> Vec<u8> {
        let mut there = vec![0; world.len()];
        for (var, value) in world.iter().enumerate() {
            there[self.places[var]] = self.values[var][usize::from(*value)];
        }
        there
    }

    fn back(&self, world: &[u8]) -> Vec<u8> {
        let value = |(place, values): (&usize, &Vec<u8>)| {
            let found = values.iter().position(|value| *value == world[*place]);
            u8::try_from(found.unwrap_or_default()).unwrap_or_default()
        };
        self.places.iter().zip(&self.values).map(value).collect()
    }
}
