//! An accepted declaration, and its differences from another one: the interface of authors, and the
//! meaning in each world.

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
use look::{View, WorldMeaning};

/// Aspect in which two declarations may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aspect {
    /// Items that are evaluated and observed, and the worlds in which they are.
    Asked,
    /// Effect, among several, that defines the desired object.
    Planned,
    /// Definitions of inputs, values, facts and effects.
    Tables,
    /// The state, if a move or a status depends on it and it is more than a name.
    State,
    /// Step that is run.
    Step,
    /// Objects that are left, or given up, when the object is deleted.
    Left,
    /// The status or the reason of a condition.
    Condition,
    /// The roll-up.
    Ready,
    /// Status content beside conditions.
    Fields,
    /// The sentence of a condition, or the event of a change into it.
    Sentence,
    /// After how long it has taken too long.
    Overdue,
    /// The phase, if no status reports it.
    Phase,
    /// Possible worlds.
    Worlds,
    /// Declarations that only help.
    Wakes,
    /// Goal of the lifecycle.
    Goal,
    /// Behavior of the environment.
    Promises,
    /// Possible next states.
    Edges,
    /// Columns that `kubectl get` shows.
    Columns,
}

impl Aspect {
    /// Returns true if a reconciliation depends on it, in its actions or its reports. All other
    /// aspects are for the checker, and for people who read the declaration.
    pub fn acts(self) -> bool {
        self <= Self::Overdue
    }

    /// Returns the name that the tables use.
    pub fn name(self) -> &'static str {
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
    /// Arguments of the methods.
    pub declared: Arc<Declared>,
    worlds: Vec<Vec<u8>>,
    looks: Vec<WorldMeaning>,
    tables: BTreeMap<(Aspect, String), String>,
}

/// Result of the compilation of a declaration.
#[derive(Debug)]
pub struct Compiled {
    body: String,
    model: model::Lifecycle,
    /// True if the compiler warns about something.
    pub is_warned: bool,
}

impl Compiled {
    /// Checks the text between the braces of the macro.
    ///
    /// # Errors
    /// The rule that refuses it, the first by position.
    ///
    /// # Panics
    /// If it does not consist of tokens.
    pub fn compile(body: String) -> Result<Self, &'static str> {
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

    /// Returns the items that an author's code meets: types and the trait, without documentation.
    pub fn met(&self) -> BTreeSet<String> {
        met::met(self.expanded())
    }

    /// The edges between declared states that effects and promises cause.
    ///
    /// # Panics
    /// Never: it was checked.
    pub fn caused(&self) -> Vec<Edge> {
        let summary = Summary::explore(&self.model).expect("it was checked");
        let name = |state: &model::StateId| self.model.states[state.0].name.to_string();
        let edges = summary.edges.keys();
        edges.map(|(from, to)| (name(from), name(to))).collect()
    }

    /// With all that follows from it.
    ///
    /// # Panics
    /// Panics if the lifecycle uses features that random lifecycles do not have yet.
    pub fn declaration(&self) -> Declaration {
        let ir = printed::read(self.expanded());
        let declared = Arc::new(Declared::from_model(&self.model));
        let worlds = self.worlds();
        let view = View::new(ir);
        let looks = worlds
            .iter()
            .map(|world| view.inspect(&world_of(ir, world)));
        Declaration {
            text: format!("lifecycle! {{\n{}\n}}", self.body),
            looks: looks.collect(),
            tables: tables::build_tables(ir, &declared),
            ir,
            declared,
            worlds,
        }
    }

    fn worlds(&self) -> Vec<Vec<u8>> {
        let permissions = Permissions::new(&self.model);
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
    /// Returns the differences from another declaration that has the same interface for authors.
    pub fn differences(&self, other: &Self) -> BTreeSet<Aspect> {
        let names = self.tables.keys().chain(other.tables.keys());
        let unlike = names.filter(|name| self.tables.get(*name) != other.tables.get(*name));
        let mut all: BTreeSet<Aspect> = unlike.map(|(aspect, _)| *aspect).collect();
        let Some(mapped) = Mapped::between(other.ir, self.ir) else {
            all.insert(Aspect::Tables);
            return all;
        };
        let mine: BTreeMap<&Vec<u8>, &WorldMeaning> = self.worlds.iter().zip(&self.looks).collect();
        let (here, there) = (View::new(self.ir), View::new(other.ir));
        let mut seen = BTreeSet::new();
        for (world, look) in other.worlds.iter().zip(&other.looks) {
            let world = mapped.map_world(world);
            match mine.get(&world) {
                Some(mine) => all.extend(mine.differences(look)),
                None => {
                    all.insert(Aspect::Worlds);
                    all.extend(here.inspect(&world_of(self.ir, &world)).differences(look));
                }
            }
            seen.insert(world);
        }
        for (world, look) in mine.into_iter().filter(|(world, _)| !seen.contains(*world)) {
            all.insert(Aspect::Worlds);
            let world = world_of(other.ir, &mapped.back(world));
            all.extend(look.differences(&there.inspect(&world)));
        }
        all
    }

    /// Returns worlds in which another declaration acts or reports differently, up to this many,
    /// spread over all.
    pub fn disputed(&self, other: &Self, most: usize) -> Vec<Named> {
        let Some(mapped) = Mapped::between(other.ir, self.ir) else {
            return Vec::new();
        };
        let theirs = other.worlds.iter().map(|world| mapped.map_world(world));
        let all: BTreeSet<Vec<u8>> = self.worlds.iter().cloned().chain(theirs).collect();
        let (here, there) = (View::new(self.ir), View::new(other.ir));
        let is_disputed = |world: &Vec<u8>| {
            let mine = here.inspect(&world_of(self.ir, world));
            let other = there.inspect(&world_of(other.ir, &mapped.back(world)));
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

    /// Returns the differences from another declaration in one world.
    pub fn differences_in(&self, other: &Self, world: &Named) -> Vec<Aspect> {
        let look = |ir| Some(View::new(ir).inspect(&world_of(ir, &numbered(ir, world)?)));
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

/// Positions of the questions of one description in another, and their values.
struct Mapped {
    places: Vec<usize>,
    values: Vec<Vec<u8>>,
}

impl Mapped {
    /// Maps one lifecycle to another. Returns `None` if one evaluates an item that the other does
    /// not evaluate.
    fn between(from: &Lifecycle, to: &Lifecycle) -> Option<Self> {
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

    fn map_world(&self, world: &[u8]) -> Vec<u8> {
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
