//! Explanation of one object, and of the objects that it waits for: owners, and objects whose
//! lifecycle keeps a promise or is looked at. Each is explained once, so that cycles end.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use jiff::Timestamp;
use kube::Client;
use lifecycle_runtime::cluster::store::Name;
use lifecycle_runtime::lifecycle::{Kind, Stored};
use lifecycle_runtime::machine::ir::{Phase, Source};
use lifecycle_runtime::machine::policy::Class;

use crate::explain::act::acts;
use crate::explain::claim;
use crate::explain::deletion::deletion;
use crate::explain::explained::Explained;
use crate::explain::explanation::{Act, Actor, Explanation, Object, Related, Since, State, Status};
use crate::explain::fetch::{self, Unreadable, resource};
use crate::explain::look::{Inspection, Position};
use crate::explain::promises::promises;
use crate::explain::times;
use crate::explain::wakes::wakes;
use crate::explain::way::{deadline, find_route};
use crate::explain::why::facts;
use crate::text::timestamp;

/// So far others are followed.
const DEEPEST: usize = 4;
/// Upper bound on explained objects that matter in the same way.
const MOST: usize = 3;

/// Of an owner: how it is related.
const OWNER: &str = "it owns this one";

/// State that one explanation shares with those inside it.
struct Following<'a> {
    client: &'a Client,
    all: &'a [Explained],
    now: Timestamp,
    told: BTreeSet<Object>,
}

type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Explains an object by its lifecycle, and those of `all` that it waits for; `None` if it is not there.
///
/// # Guarantees
/// Nothing is written: it sends `GET` requests alone.
///
/// # Errors
/// The API server does not answer, or the object itself may not be read.
pub async fn explain(
    client: &Client,
    all: &[Explained],
    of: &Explained,
    (namespace, name): (Option<&str>, &str),
    now: Timestamp,
) -> Result<Option<Explanation>, Unreadable> {
    let Some(kind) = of.kind() else {
        return Ok(None);
    };
    let name = Name {
        namespace: namespace.map(str::to_owned).filter(|_| kind.namespaced),
        name: name.to_owned(),
    };
    let subject = match fetch::object(client, &kind, &name).await? {
        Ok(subject) => subject,
        Err(why) => {
            let why = format!("{why}: get {}", resource(&kind));
            return Err(Unreadable::new(&name.of_kind(&kind).to_string(), &why));
        }
    };
    let Some(subject) = subject else {
        return Ok(None);
    };
    let mut following = Following {
        client,
        all,
        now,
        told: BTreeSet::new(),
    };
    following
        .explain_object(of, kind, (name, subject), 0)
        .await
        .map(Some)
}

impl Following<'_> {
    fn explain_object<'b>(
        &'b mut self,
        of: &'b Explained,
        kind: Kind,
        (name, subject): (Name, Arc<Stored>),
        depth: usize,
    ) -> Later<'b, Result<Explanation, Unreadable>> {
        Box::pin(async move {
            self.told.insert(object(&kind, &name));
            let object = (name, subject);
            let look = match of.driver() {
                None => Inspection::for_object(self.client, of, &kind, object, self.now).await?,
                Some(_) => claim::inspect_claim(self.client, of, &kind, object, self.now).await?,
            };
            let places = look.places();
            let mut explanation = alone(&look, &places);
            let mut others = others(&look, &places, self.all);
            if of.driver().is_some() {
                claim::explain_claim(&look, &mut explanation);
                others = seen(&look, self.all);
                others.extend(claim::created_objects(&look, self.all));
            }
            for (how, lifecycle, name) in others {
                let related = self.related(how, &self.all[lifecycle], name, depth).await?;
                explanation.related.extend(related);
            }
            of_others_first(&mut explanation);
            if of.driver().is_some() {
                claim::follow(self.client, &look, &mut explanation).await?;
            }
            Ok(explanation)
        })
    }

    async fn related(
        &mut self,
        how: String,
        of: &Explained,
        name: Name,
        depth: usize,
    ) -> Result<Option<Related>, Unreadable> {
        let Some(kind) = of.kind() else {
            return Ok(None);
        };
        let other = object(&kind, &name);
        let related = |explanation: Option<Explanation>, note: Option<&str>| Related {
            how: how.clone(),
            object: other.clone(),
            explanation: explanation.map(Box::new),
            note: note.map(str::to_owned),
        };
        if self.told.contains(&other) {
            return Ok(Some(related(None, Some("it is explained above"))));
        }
        if depth >= DEEPEST {
            return Ok(Some(related(None, Some("explain it by itself"))));
        }
        Ok(Some(
            match fetch::object(self.client, &kind, &name).await? {
                Err(why) => {
                    let note = format!("it cannot be read: {why}");
                    related(None, Some(&note))
                }
                Ok(None) => related(None, Some("it does not exist")),
                Ok(Some(subject)) => {
                    let of = of.clone();
                    let inside = self.explain_object(&of, kind.clone(), (name, subject), depth + 1);
                    related(Some(inside.await?), None)
                }
            },
        ))
    }
}

/// While an object that a Pending one waits for is not Ready itself, that comes first.
fn of_others_first(explanation: &mut Explanation) {
    let is_pending = |state: &State| state.phase == Phase::Pending.as_str();
    let is_left = |act: &Act| act.who == Actor::Person;
    if !explanation.states.iter().all(is_pending) || !explanation.who.iter().all(is_left) {
        return;
    }
    let waited = explanation.related.iter().filter(|one| one.how != OWNER);
    let unready = waited.filter(|one| {
        let mut states = one.explanation.iter().flat_map(|told| &told.states);
        states.any(|state| state.phase != Phase::Ready.as_str())
    });
    let unready: Vec<String> = unready.map(|one| one.object.to_string()).collect();
    if !unready.is_empty() {
        explanation.who = vec![Act {
            who: Actor::Lifecycle,
            what: format!("it waits for {}: see below", unready.join(" and ")),
        }];
    }
}

fn object(kind: &Kind, name: &Name) -> Object {
    Object {
        group: kind.group.clone(),
        kind: kind.kind.clone(),
        resource: resource(kind),
        namespace: name.namespace.clone(),
        name: name.name.clone(),
    }
}

/// Returns the explanation of the object itself.
fn alone(look: &Inspection<'_>, places: &[Position]) -> Explanation {
    let first = &places[0];
    let mut who = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    let mut why = Vec::new();
    for place in places {
        who.extend(acts(look, place));
        lines.extend(wakes(look, place));
        why.extend(facts(look, place));
    }
    let mut seen = BTreeSet::new();
    lines.retain(|line| seen.insert(line.clone()));
    let mut acting: Vec<Act> = Vec::new();
    for act in who {
        if !acting.contains(&act) {
            acting.push(act);
        }
    }
    why.dedup();
    Explanation {
        object: object(&look.kind, &look.name),
        states: places.iter().map(|place| state(look, place)).collect(),
        since: since(look, first),
        overdue: overdue(look, places),
        who: acting,
        why,
        wakes: lines,
        way: find_route(look, unfinished(look, places)),
        deletion: deletion(look),
        status: status(look),
        unread: look.unread.clone(),
        unasked: unasked(look),
        related: Vec::new(),
    }
}

fn state(look: &Inspection<'_>, place: &Position) -> State {
    let ir = look.ir;
    let failed = look.observed.failure.is_some() && look.observed.set_aside.is_none();
    let (name, doc) = match place.class {
        _ if failed => (
            "Unclear",
            "The operator cannot determine its state, and does nothing.",
        ),
        Class::State(state) => (ir.states[state].name, ir.states[state].doc),
        Class::Deleting => ("Deleting", "It is being deleted."),
        Class::Refused { .. } => ("Refused", "The API server refused the last write."),
        Class::Contradiction => (
            "Unclear",
            "The observed world does not fit the declaration.",
        ),
    };
    let phase = match failed {
        true => Phase::Error,
        false => ir.phase(place.class),
    };
    State {
        name: name.to_owned(),
        phase: phase.as_str().to_owned(),
        region: region_of(look, place).map(str::to_owned),
        doc: doc.trim().to_owned(),
    }
}

/// Returns the time since the object is being deleted, Ready or not Ready, as far as the status
/// reports it.
fn since(look: &Inspection<'_>, place: &Position) -> Option<Since> {
    let deleted = look.subject.meta.deletion_timestamp.as_ref().map(|at| at.0);
    let told = || {
        let is_ready = look.ir.phase(place.class) == Phase::Ready;
        let ready = look.reported.get("Ready");
        let ready = ready.filter(|ready| (ready.status == "True") == is_ready);
        let unmet = look.reported.unmet().filter(|_| !is_ready);
        ready.or(unmet).filter(|_| look.agrees)?.since
    };
    let at = deleted.or_else(told)?;
    Some(Since {
        at: timestamp(at),
        seconds: look.now.duration_since(at).as_secs().max(0),
    })
}

fn overdue(look: &Inspection<'_>, places: &[Position]) -> Option<String> {
    // Regions are in their states at the same time; of other states, one is true.
    if places.len() > 1 && region_of(look, &places[0]).is_none() {
        return None;
    }
    places.iter().find_map(|place| {
        let Class::State(state) = place.class else {
            return None;
        };
        let limit = deadline(look, state)?;
        let spent = u64::try_from(since(look, place)?.seconds).ok()?;
        (spent >= limit.as_secs()).then(|| {
            format!(
                "{} is to take {} at most",
                look.ir.states[state].name,
                times::length(limit)
            )
        })
    })
}

/// Returns the region of a place, if it is a state of a region.
fn region_of(look: &Inspection<'_>, place: &Position) -> Option<&'static str> {
    let Class::State(state) = place.class else {
        return None;
    };
    let region = look.ir.states[state].region?;
    Some(look.ir.regions[region].name)
}

/// Returns the first place that is not a goal, else the first.
fn unfinished<'a>(look: &Inspection<'_>, places: &'a [Position]) -> &'a Position {
    let is_goal = |class| matches!(class, Class::State(state) if look.ir.states[state].goal);
    let mut open = places.iter().filter(|place| !is_goal(place.class));
    open.next().unwrap_or(&places[0])
}

fn status(look: &Inspection<'_>) -> Status {
    let unmet = look.reported.conditions.iter();
    let unmet = unmet
        .filter(|one| one.status != "True" || ["Stalled", "Contradiction"].contains(&&*one.name));
    let says = unmet.map(|one| {
        let message = one.message.replace('\n', "; ");
        format!("{} is {} ({}): {message}", one.name, one.status, one.reason)
    });
    Status {
        agrees: look.agrees,
        is_behind: look.reported.is_behind,
        says: says.collect(),
    }
}

/// Returns the inputs that are not queried or compared from here.
fn unasked(look: &Inspection<'_>) -> Vec<String> {
    let asked: BTreeSet<usize> = look
        .observed
        .polls
        .iter()
        .map(|(input, _)| *input)
        .collect();
    let polls = asked.into_iter().map(|input| {
        let name = look.ir.inputs[input].name;
        format!(
            "only the operator queries `{name}`; facts that depend on it are taken from the status"
        )
    });
    let apart = (0..look.ir.inputs.len()).filter_map(|input| {
        let why = look.of.apart(input)?;
        let is_there = !look.observed.observation.objects(input).is_empty();
        let name = look.ir.inputs[input].name;
        is_there.then(|| format!("`{name}` is not compared with what is wanted: {why}"))
    });
    polls.chain(apart).collect()
}

/// Returns the other objects that matter: how each matters, the position of its lifecycle, and its
/// name.
fn others(
    look: &Inspection<'_>,
    places: &[Position],
    all: &[Explained],
) -> Vec<(String, usize, Name)> {
    let mut found: BTreeMap<(usize, Name), String> = BTreeMap::new();
    let mut order = Vec::new();
    let mut add = |how: String, lifecycle: usize, name: Name| {
        let key = (lifecycle, name);
        if !found.contains_key(&key) {
            found.insert(key.clone(), how);
            order.push(key);
        }
    };
    for owner in look.subject.meta.owner_references.iter().flatten() {
        let group = owner
            .api_version
            .split_once('/')
            .map_or("", |(group, _)| group);
        let of = all.iter().position(|one| {
            let kind = one.kind();
            kind.is_some_and(|kind| kind.kind == owner.kind && kind.group == group)
        });
        let name = Name {
            namespace: look.name.namespace.clone(),
            name: owner.name.clone(),
        };
        if let Some(of) = of {
            add(OWNER.to_owned(), of, name);
        }
    }
    for place in places {
        let keepers = promises(look, place).into_iter().filter_map(|due| {
            let keeper = due.keeper?;
            let of = all.iter().position(|one| one.ir().path == keeper)?;
            Some((format!("it keeps the promise `{}`", due.name), of))
        });
        for (how, of) in keepers {
            let names = all[of].kind().map(|kind| of_kind(look, &kind));
            for name in names.unwrap_or_default() {
                add(how.clone(), of, name);
            }
        }
        for (how, of, name) in woken_by(look, place, all) {
            add(how, of, name);
        }
    }
    order
        .into_iter()
        .filter_map(|key| found.get(&key).map(|how| (how.clone(), key.0, key.1)))
        .collect()
}

/// Returns every object that was looked at and has a lifecycle.
fn seen(look: &Inspection<'_>, all: &[Explained]) -> Vec<(String, usize, Name)> {
    let mut found = Vec::new();
    for (of, one) in all.iter().enumerate() {
        let kind = one.kind().filter(|kind| !kind.is(&look.kind));
        for name in kind.map(|kind| of_kind(look, &kind)).unwrap_or_default() {
            found.push(("it is for this one".to_owned(), of, name));
        }
    }
    found
}

/// Returns the objects of other lifecycles whose changes wake this object.
fn woken_by(
    look: &Inspection<'_>,
    place: &Position,
    all: &[Explained],
) -> Vec<(String, usize, Name)> {
    let Class::State(state) = place.class else {
        return Vec::new();
    };
    let sources = look.ir.states[state].wakes.into_iter().flatten();
    let inputs = sources.filter_map(|source| match source {
        Source::Input(input) => Some(*input),
        Source::This | Source::Request | Source::Value(_) | Source::Fact(_) => None,
    });
    let mut found = Vec::new();
    for input in inputs {
        let Some(kind) = &look.kinds[input] else {
            continue;
        };
        let of = all
            .iter()
            .position(|one| one.kind().is_some_and(|other| other.is(kind)));
        let objects = look.observed.observation.objects(input).iter().take(MOST);
        for (of, object) in of
            .into_iter()
            .flat_map(|of| objects.clone().map(move |o| (of, o)))
        {
            let how = format!("its `{}`", look.ir.inputs[input].name);
            found.push((how, of, Name::from_meta(&object.meta)));
        }
    }
    found.retain(|(_, _, name)| *name != look.name);
    found
}

/// The objects of a kind that the look has seen.
fn of_kind(look: &Inspection<'_>, kind: &Kind) -> Vec<Name> {
    let mut names = BTreeSet::new();
    for (input, other) in look.kinds.iter().enumerate() {
        if other.as_ref().is_some_and(|other| other.is(kind)) {
            let objects = look.observed.observation.objects(input).iter();
            names.extend(objects.map(|object| Name::from_meta(&object.meta)));
        }
    }
    names.into_iter().take(MOST).collect()
}
