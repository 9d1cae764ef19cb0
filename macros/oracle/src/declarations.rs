//! Findings about each declaration that need no world.

use std::collections::BTreeSet;

use crate::findings::Findings;
use crate::held::{free, gives_back, lets_go, takes};
use crate::minted;
use crate::needs::is_one_of_several;
use crate::ownership;
use crate::reach::Reach;
use crate::strays::{self, first_of_its_kind};
use crate::syntax::{Effect, Life, Pred, Span};
use crate::values::is_there;

/// Checks the rules that follow from declarations that all make sense.
pub(crate) fn declarations(life: &Life, reach: &Reach<'_>, found: &mut Findings) {
    for effect in &life.effects {
        undo(life, effect, found);
        let affected = reach.affected(effect);
        for _ in effect
            .sets
            .iter()
            .flatten()
            .filter(|(fact, _)| !affected.contains(fact))
        {
            found.report("LC017", &effect.name);
        }
    }
    if !life.volume && !life.states.is_empty() && !life.states.iter().any(|state| state.goal) {
        found.report("LC179", &life.name);
    }
    steps(life, reach, found);
    ownership::check_retained(life, found);
    nevers(life, reach, found);
    bounds(life, found);
    strays::of_declarations(life, found);
    ages(life, reach, found);
    let used = reach.used();
    for input in life
        .inputs
        .iter()
        .filter(|input| !used.contains(&input.name) && input.group.is_none())
    {
        found.report("LC064", &input.name);
    }
}

/// Checks that a minted value that records its creation time expires by the clock. Also checks that
/// a value that expires by the clock records its creation time.
fn ages(life: &Life, reach: &Reach<'_>, found: &mut Findings) {
    let Some(clock) = life.clock() else { return };
    let reads = |from: &[String]| from.iter().any(|name| name == clock);
    for (value, mint) in life.minted().filter(|(_, mint)| mint.until.is_some()) {
        let asked = minted::until_facts(value);
        let is_timed = |name: &&String| reach.reads.get(*name).is_some_and(|r| r.contains(clock));
        let timed: Vec<&String> = asked.iter().filter(is_timed).collect();
        if reads(&value.from[1..]) {
            if timed.is_empty() {
                found.report("LC147", &value.name);
            }
            continue;
        }
        let of_keeper = timed
            .iter()
            .any(|name| reach.reads[*name].contains(&mint.keeper));
        let mut beside = life
            .minted()
            .filter(|(_, other)| other.keeper == mint.keeper);
        if of_keeper && !beside.any(|(other, _)| reads(&other.from[1..])) {
            found.report("LC147", &value.name);
        }
    }
}

/// Checks that no duration read from the object can fall below its declared bound. The default
/// duration must not fall below it either.
fn bounds(life: &Life, found: &mut Findings) {
    let said = |span: &&Span| span.path.is_some() && !life.volume;
    for input in &life.inputs {
        let written = input.every.as_ref().filter(|every| every.path.is_none());
        let is_endless = written.is_some_and(|every| every.usual < 100) && !life.volume;
        let is_unbounded =
            |every: &Span| every.min.is_none_or(|min| min < 100 || min > every.usual);
        if is_endless || input.every.as_ref().filter(said).is_some_and(is_unbounded) {
            found.report("LC103", &input.name);
        }
    }
    for state in &life.states {
        if let Some(overdue) = state.overdue.as_ref().filter(said)
            && overdue.least() > overdue.usual
        {
            found.report("LC103", &state.name);
        }
    }
}

fn undo(life: &Life, effect: &Effect, found: &mut Findings) {
    let mut open = takes(life, effect);
    open.retain(|fact| !lets_go(life, effect, fact));
    let is_acquired = !open.is_empty();
    for step in &life.steps {
        let freed = life.effect(&step.effect).map(|step| gives_back(life, step));
        open.retain(|fact| !freed.iter().flatten().any(|other| other == fact));
    }
    open.retain(|fact| !keeps(life, effect, fact));
    match (
        is_acquired && (effect.undo.is_some() || !open.is_empty()),
        &effect.undo,
    ) {
        (true, None) => found.report("LC041", &effect.name),
        (false, Some(_)) => found.report("LC044", &effect.name),
        (true, Some(_)) | (false, None) => {}
    }
}

/// Reports a stage of the teardown that cannot bring about its end, or that is needed in life.
fn steps(life: &Life, reach: &Reach<'_>, found: &mut Findings) {
    let promised: BTreeSet<&String> = life
        .promises
        .iter()
        .flat_map(|promise| promise.sets.iter().flatten())
        .map(|(fact, _)| fact)
        .collect();
    for step in &life.steps {
        let effect = life
            .effect(&step.effect)
            .expect("names were checked before");
        let mut changed = reach.affected(effect);
        changed.extend(effect.sets.iter().flatten().map(|(fact, _)| fact.clone()));
        changed.extend(promised.iter().map(|fact| (*fact).clone()));
        if !step.until.atoms().iter().any(|fact| changed.contains(fact)) {
            found.report("LC141", &step.effect);
        }
        let target = life.input(&effect.on).map_or("", |input| &input.own);
        let builds = ["apply", "create"].contains(&effect.verb.as_str());
        let makes = builds && ["owned", "shared", "group"].contains(&target);
        let acquires = takes(life, effect)
            .iter()
            .any(|fact| !lets_go(life, effect, fact));
        let mut awaited = life.states.iter().flat_map(|state| state.when.atoms());
        let is_awaited = awaited.any(|fact| {
            let reads = reach.reads.get(&fact);
            reads.is_some_and(|reads| reads.contains(&effect.on))
        });
        let alone = effect.when.is_none() && (makes && is_awaited || acquires);
        if alone || is_one_of_several(life, effect) {
            found.report("LC142", &step.effect);
        }
    }
}

/// Returns true if the `when` of the effect requires that the fact is already held.
fn keeps(life: &Life, effect: &Effect, fact: &str) -> bool {
    let held = life.fact(fact).filter(|fact| fact.held);
    let when = effect.when.as_ref();
    held.is_some_and(|held| when.is_some_and(|when| rules_out(when, fact, &free(held))))
}

/// Returns true if the predicate, as written, holds with none of these values.
fn rules_out(when: &Pred, fact: &str, values: &[String]) -> bool {
    let asks = |asked: &Option<Vec<String>>, value: &String| match asked {
        Some(asked) => asked.contains(value),
        None => is_there(value),
    };
    match when {
        Pred::And(left, right) => rules_out(left, fact, values) || rules_out(right, fact, values),
        Pred::Or(left, right) => rules_out(left, fact, values) && rules_out(right, fact, values),
        Pred::Is(name, asked) => name == fact && !values.iter().any(|value| asks(asked, value)),
        Pred::Not(inner) => match inner.as_ref() {
            Pred::Is(name, asked) => name == fact && values.iter().all(|value| asks(asked, value)),
            Pred::And(..) | Pred::Or(..) | Pred::Not(_) => false,
        },
    }
}

/// A `never` holds only if one and the same input decides all that it mentions.
fn nevers(life: &Life, reach: &Reach<'_>, found: &mut Findings) {
    for never in &life.nevers {
        let atoms = never.atoms();
        let mut shared: Option<BTreeSet<String>> = None;
        let picks = |atom: &&String| atoms.iter().any(|on| picks_a_builder(life, atom, on));
        let related: BTreeSet<&String> = atoms.iter().filter(|atom| !picks(atom)).collect();
        for atom in &related {
            let reads = reach.reads.get(*atom).into_iter().flatten();
            let reads = reads.filter_map(|name| life.input(name));
            let reads: BTreeSet<String> =
                reads.map(|input| first_of_its_kind(life, input)).collect();
            shared = Some(match shared {
                None => reads,
                Some(before) => before.intersection(&reads).cloned().collect(),
            });
        }
        let shared = shared.unwrap_or_default();
        let itself = atoms.iter().all(|atom| is_made_of_the_object(life, atom));
        if related.len() > 1 && shared.is_empty() && !itself {
            found.report("LC015", "never");
        }
    }
}

/// Returns true if a fact helps to pick one of several builders of an object.
fn picks_a_builder(life: &Life, fact: &str, object: &str) -> bool {
    let builds = |effect: &&Effect| effect.on == object && is_one_of_several(life, effect);
    let mut asked = life
        .effects
        .iter()
        .filter(builds)
        .flat_map(|effect| &effect.when);
    fact != object && asked.any(|when| when.atoms().iter().any(|atom| atom == fact))
}

/// Returns true if a fact, or a value behind it, is computed `from self`.
fn is_made_of_the_object(life: &Life, fact: &str) -> bool {
    fn says_so(life: &Life, from: &[String]) -> bool {
        let behind = |name: &String| {
            life.value(name)
                .is_some_and(|value| says_so(life, &value.from))
        };
        from.iter().any(|name| name == "self" || behind(name))
    }
    life.fact(fact)
        .is_some_and(|fact| says_so(life, &fact.from))
}
