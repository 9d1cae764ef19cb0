//! One look at an object: one reconciliation of its lifecycle up to its possible worlds. The
//! operator's own code runs it over the objects read for it.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use kube::Client;
use lifecycle_runtime::cluster::observe::{Failure, Observed, Observer};
use lifecycle_runtime::cluster::store::Name;
use lifecycle_runtime::lifecycle::{Kind, ObjectRef, Stored};
use lifecycle_runtime::machine::ir::{Lifecycle, Mode};
use lifecycle_runtime::machine::policy::{Class, Decision};
use lifecycle_runtime::machine::world::World;

use crate::explain::explained::Explained;
use crate::explain::explanation::Unread;
use crate::explain::fetch::{Fetched, Unreadable};
use crate::explain::open;
use crate::explain::reported::Reported;

/// Upper bound on repeated looks. A look is repeated if the objects read name further objects.
const ROUNDS: usize = 64;

/// Result of a look at one object.
pub(crate) struct Inspection<'a> {
    pub(crate) of: &'a Explained,
    pub(crate) ir: &'static Lifecycle,
    pub(crate) kind: Kind,
    pub(crate) kinds: Vec<Option<Kind>>,
    pub(crate) name: Name,
    pub(crate) subject: Arc<Stored>,
    pub(crate) observed: Observed,
    pub(crate) reported: Reported,
    /// Objects that the caller may not read.
    pub(crate) unread: Vec<Unread>,
    /// The questions that are not answered from here.
    pub(crate) open: BTreeSet<usize>,
    /// The worlds that it may be in: one, if nothing is open.
    pub(crate) worlds: Vec<World>,
    /// True if the status matches one of them.
    pub(crate) agrees: bool,
    pub(crate) now: Timestamp,
}

/// State in which the object may be, with the worlds of that state.
pub(crate) struct Position {
    pub(crate) class: Class,
    pub(crate) next: Decision,
    pub(crate) worlds: Vec<World>,
}

impl<'a> Inspection<'a> {
    /// Looks at an existing object.
    ///
    /// # Errors
    /// The API server does not answer.
    pub(crate) async fn for_object(
        client: &Client,
        of: &'a Explained,
        kind: &Kind,
        (name, subject): (Name, Arc<Stored>),
        now: Timestamp,
    ) -> Result<Self, Unreadable> {
        let inside = name.namespace.clone();
        let mut fetched = Fetched::new(client, of, (kind, inside), now);
        let observed = observed(&mut fetched, of, kind, &subject).await?;
        let ir = of.ir();
        let reported = Reported::from_object(&subject);
        let closed = closed(of, &fetched);
        let open = open::vars(ir, &observed.observation, &closed, |input| {
            of.apart(input).is_some()
        });
        let (worlds, agrees) = open::worlds(ir, &observed, &open, &reported);
        Ok(Self {
            of,
            ir,
            kind: kind.clone(),
            kinds: fetched.kinds.clone(),
            name,
            subject,
            reported,
            unread: fetched.unread.clone(),
            open: open.keys().copied().collect(),
            worlds,
            agrees,
            observed,
            now,
        })
    }

    pub(crate) fn is_deleting(&self) -> bool {
        self.subject.meta.deletion_timestamp.is_some()
    }

    /// Returns the places where the object may be. There is only one place if everything is known.
    pub(crate) fn places(&self) -> Vec<Position> {
        if self.observed.failure.is_some() {
            let set_aside = self.observed.set_aside;
            return vec![Position {
                class: set_aside.map_or(Class::Contradiction, Class::State),
                next: Decision::Rest,
                worlds: vec![self.observed.observation.world.clone()],
            }];
        }
        let deleting = self.is_deleting();
        let mut places: Vec<Position> = Vec::new();
        for world in &self.worlds {
            let next = self.ir.next(world, deleting);
            for class in self.classes(world, deleting) {
                match places.iter_mut().find(|place| place.class == class) {
                    Some(place) => place.worlds.push(world.clone()),
                    None => places.push(Position {
                        class,
                        next: self.next_in(class, next),
                        worlds: vec![world.clone()],
                    }),
                }
            }
        }
        places
    }

    /// Returns the class of a world, followed by the states of further regions that are not in their
    /// goals.
    fn classes(&self, world: &World, deleting: bool) -> Vec<Class> {
        let first = self.ir.classify(world, deleting);
        let states = self.ir.current_states(world, first).into_iter();
        let others = states.filter(|state| !self.ir.states[*state].goal);
        let others = others.map(Class::State).filter(|class| *class != first);
        std::iter::once(first).chain(others).collect()
    }

    /// Returns what is done in a state: nothing, if the next effect is one of another region.
    fn next_in(&self, class: Class, next: Decision) -> Decision {
        let (Class::State(state), Decision::Effect(effect)) = (class, next) else {
            return next;
        };
        let (here, there) = (self.ir.states[state].region, self.ir.effects[effect].region);
        match here == there || there.is_none() {
            true => next,
            false => Decision::Rest,
        }
    }

    /// True if the object itself cannot be read, so that nothing is known of it.
    pub(crate) fn is_unreadable(&self) -> bool {
        let failure = self.observed.failure.as_ref();
        matches!(failure, Some(Failure::Unreadable(_)))
    }

    /// The object itself.
    pub(crate) fn object(&self) -> ObjectRef {
        self.name.of_kind(&self.kind)
    }

    /// Returns the kind of the objects that an input finds, or the declared name if the cluster has
    /// no such kind.
    pub(crate) fn kind_of(&self, input: usize) -> String {
        let declared = self.ir.inputs[input].kind;
        self.kinds[input]
            .as_ref()
            .map_or_else(|| declared.to_owned(), |kind| kind.kind.clone())
    }
}

async fn observed(
    fetched: &mut Fetched<'_>,
    of: &Explained,
    kind: &Kind,
    subject: &Arc<Stored>,
) -> Result<Observed, Unreadable> {
    let mut rounds = 0;
    loop {
        let observed = {
            let observer = Observer {
                machine: &*of.machine,
                subject_kind: Some(kind),
                call: None,
                kinds: &fetched.kinds,
                finders: &fetched.finders,
                naming: &of.naming,
                view: &*fetched,
            };
            observer.observe(Arc::clone(subject))
        };
        rounds += 1;
        let missed = fetched.fetch_missed().await?;
        match &observed.failure {
            Some(Failure::Unfetched { input, keys }) if rounds < ROUNDS => {
                fetched.fetch(*input, keys).await?;
            }
            Some(_) | None if missed && rounds < ROUNDS => {}
            Some(_) | None => return Ok(observed),
        }
    }
}

/// Returns the inputs that are not known here: queries to external systems, and objects that may
/// not be read.
fn closed(of: &Explained, fetched: &Fetched<'_>) -> BTreeSet<usize> {
    let inputs = of.ir().inputs.iter().enumerate();
    let outside = inputs.filter(|(_, input)| matches!(input.mode, Mode::Poll | Mode::Probe));
    let mut closed = fetched.closed_inputs();
    closed.extend(outside.map(|(number, _)| number));
    closed
}
