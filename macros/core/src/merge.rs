//! Merges the declarations of fragments into those of a lifecycle, so that every later stage sees
//! one lifecycle. If the order counts, the lifecycle declares the place. Everything else comes
//! first, in the order of the `use` lines.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span};

use crate::ast::{Clause, Condition, Domain, Effect, Fragment, Kind, Lifecycle, List, Mark, State};
use crate::body::Given;
use crate::check::{
    declared_twice, misfit_fragment, unknown_fragment, unknown_name, unmet_need, unplaced_item,
};
use crate::errors::{Item, Severity, Sink};
use crate::fragment::check_fragment;
use crate::model::build::domain;

/// Puts the fragments that a lifecycle uses into it.
pub(crate) fn merge(ast: &mut Lifecycle, given: &[Given], sink: &mut Sink) {
    if ast.kind == Kind::Volume {
        let marked = ast.marks.iter().map(|mark| &mark.fragment);
        let marked = marked.filter(|name| !ast.uses.contains(name));
        for used in ast.uses.iter().chain(marked) {
            ast.taint.everything = true;
            sink.push(misfit_fragment::volume(used));
        }
        return;
    }
    let mut fragments = used(ast, given, sink);
    let mut is_less = false;
    for at in 0..fragments.len() {
        let (before, rest) = fragments.split_at_mut(at);
        if let Some(fragment) = rest.first_mut() {
            let all = fragment.part.states.len();
            once(ast, before, fragment, sink);
            // The items taken from it were reported.
            is_less |= fragment.part.states.len() < all;
        }
    }
    needs(ast, &fragments, sink);
    for mark in &ast.marks {
        // Its `use` may have been lost.
        if !ast.uses.contains(&mark.fragment) && !ast.taint.everything {
            ast.taint.everything = true;
            sink.push(unknown_fragment::unused(&mark.fragment, &ast.uses));
        }
    }
    let declared = fragments.clone();
    states(ast, &mut fragments, is_less, sink);
    conditions(ast, &mut fragments, sink);
    merge_unordered(ast, fragments, sink);
    ast.marks.clear();
    ast.fragments = declared;
}

/// Returns the used fragments, each once. A fragment with errors, which are reported at its own
/// place, may have lost any item.
fn used(ast: &mut Lifecycle, given: &[Given], sink: &mut Sink) -> Vec<Fragment> {
    let mut fragments: Vec<Fragment> = Vec::new();
    for used in &ast.uses {
        if let Some(first) = fragments.iter().find(|fragment| fragment.used == *used) {
            let found = declared_twice::diagnostic(used, first.used.span());
            sink.push(found);
            continue;
        }
        let Some(found) = given.iter().find(|given| *used == given.name) else {
            let known: Vec<String> = given.iter().map(|given| given.name.clone()).collect();
            sink.push(unknown_fragment::nowhere(used, &known));
            ast.taint.everything = true;
            continue;
        };
        let checked = check_fragment(found.tokens.clone());
        let mut severities = checked.diagnostics.iter().map(|found| found.severity);
        ast.taint.everything |= severities.any(|severity| severity == Severity::Error);
        match checked.ast {
            Some(fragment) => fragments.push(Fragment {
                used: used.clone(),
                ..fragment
            }),
            None => ast.taint.everything = true,
        }
    }
    fragments
}

/// Removes from a fragment every item that the lifecycle, or a fragment before it, declares as
/// well.
fn once(ast: &Lifecycle, before: &[Fragment], fragment: &mut Fragment, sink: &mut Sink) {
    let others: Vec<(Option<&Ident>, &Lifecycle)> = std::iter::once((None, ast))
        .chain(before.iter().map(|other| (Some(&other.used), &other.part)))
        .collect();
    let used = &fragment.used;
    let mut twice = |name: &Ident, names: fn(&Lifecycle) -> Vec<Ident>| {
        let other = others.iter().find_map(|(other, part)| {
            let same = names(part).into_iter().find(|one| one == name)?;
            Some((*other, same.span()))
        });
        if let Some((other, at)) = other {
            sink.push(declared_twice::by_fragment(name, (used, other), at));
        }
        other.is_none()
    };
    let part = &mut fragment.part;
    part.inputs.retain(|one| twice(&one.name, sources));
    part.values.retain(|one| twice(&one.name, sources));
    part.facts.retain(|one| twice(&one.name, sources));
    part.derived.retain(|one| twice(&one.name, sources));
    part.states.retain(|one| twice(&one.name, state_names));
    part.promises.retain(|one| twice(&one.name, promise_names));
    part.fields.retain(|one| twice(&one.name, field_names));
    part.columns.retain(|one| twice(&one.name, column_names));
    // A method of its name answers it.
    twice(used, sources);
    twice(used, effect_names);
    twice(used, field_names);
}

fn sources(part: &Lifecycle) -> Vec<Ident> {
    let inputs = part.inputs.iter().map(|one| &one.name);
    let values = part.values.iter().map(|one| &one.name);
    let facts = part.facts.iter().map(|one| &one.name);
    let derived = part.derived.iter().map(|one| &one.name);
    let all = inputs.chain(values).chain(facts).chain(derived);
    all.cloned().collect()
}

fn state_names(part: &Lifecycle) -> Vec<Ident> {
    part.states.iter().map(|one| one.name.clone()).collect()
}

fn promise_names(part: &Lifecycle) -> Vec<Ident> {
    part.promises.iter().map(|one| one.name.clone()).collect()
}

fn field_names(part: &Lifecycle) -> Vec<Ident> {
    part.fields.iter().map(|one| one.name.clone()).collect()
}

fn column_names(part: &Lifecycle) -> Vec<Ident> {
    part.columns.iter().map(|one| one.name.clone()).collect()
}

fn effect_names(part: &Lifecycle) -> Vec<Ident> {
    part.effects.iter().map(Effect::name).collect()
}

/// Reports facts that fragments need and that neither the lifecycle nor another fragment declares.
fn needs(ast: &mut Lifecycle, fragments: &[Fragment], sink: &mut Sink) {
    let mut lacking = Vec::new();
    for fragment in fragments {
        for need in &fragment.needs {
            if ast.taint.covers(&need.name) {
                continue;
            }
            let (used, wanted) = (&fragment.used, answers(&need.domain));
            let others = fragments.iter().filter(|other| other.used != *used);
            let parts: Vec<&Lifecycle> = std::iter::once(&*ast)
                .chain(others.map(|other| &other.part))
                .collect();
            match parts.iter().find_map(|part| askable(part, &need.name)) {
                None => {
                    let known = parts.iter().flat_map(|part| sources(part));
                    let known: Vec<String> = known.map(|name| name.to_string()).collect();
                    sink.push(unmet_need::missing(used, &need.name, &wanted, &known));
                    lacking.push(need.name.to_string());
                }
                Some((name, values)) => {
                    let mut lacks = wanted;
                    lacks.retain(|value| !values.contains(value));
                    if !lacks.is_empty() {
                        sink.push(unmet_need::lacking(used, &name, &lacks));
                        lacking.push(need.name.to_string());
                    }
                }
            }
        }
    }
    // Findings that follow from it are not reported again.
    ast.taint.names.extend(lacking);
}

/// Returns the declared name, and the values that a predicate may compare it with.
fn askable(part: &Lifecycle, name: &Ident) -> Option<(Ident, Vec<String>)> {
    let fact = part.facts.iter().find(|fact| fact.name == *name);
    let fact = fact.map(|fact| {
        let otherwise = fact.given.iter().filter_map(|g| g.otherwise.as_ref());
        let otherwise = otherwise.map(ToString::to_string);
        let values = answers(&fact.domain).into_iter().chain(otherwise);
        (fact.name.clone(), values.collect())
    });
    let derived = || {
        let derived = part.derived.iter().find(|derived| derived.name == *name)?;
        Some((derived.name.clone(), answers(&Domain::Bool)))
    };
    let input = || {
        let input = part.inputs.iter().find(|input| input.name == *name)?;
        let values = domain(input, part.comes(name))?.iter();
        let values = values.map(|verdict| verdict.as_str().to_owned());
        Some((input.name.clone(), values.collect()))
    };
    fact.or_else(derived).or_else(input)
}

fn answers(domain: &Domain) -> Vec<String> {
    match domain {
        Domain::Bool => ["false", "true"].map(str::to_owned).to_vec(),
        Domain::Values { left, right } => {
            let all = left.iter().chain(right.iter().flatten());
            all.map(ToString::to_string).collect()
        }
    }
}

/// Inserts each state of a fragment at the line of `states` that places it.
fn states(ast: &mut Lifecycle, fragments: &mut [Fragment], is_less: bool, sink: &mut Sink) {
    let marks = ast.marks.iter();
    let marks: Vec<&Mark> = marks.filter(|m| matches!(m.list, List::States)).collect();
    let all: Vec<usize> = fragments.iter().map(|f| f.part.states.len()).collect();
    let mut placed: BTreeMap<String, Span> = BTreeMap::new();
    let mut list = Vec::new();
    let mut own = std::mem::take(&mut ast.states).into_iter();
    for at in 0..=own.len() {
        for mark in marks.iter().filter(|mark| mark.at == at) {
            let of_mark = fragments.iter_mut().find(|f| f.used == mark.fragment);
            if let Some(fragment) = of_mark {
                let is_lost = is_less || ast.taint.everything;
                let (states, is_known) = take_states(fragment, (mark, is_lost), &mut placed, sink);
                ast.taint.everything |= !is_known;
                list.extend(states);
            }
        }
        list.extend(own.next());
    }
    for (fragment, all) in fragments.iter_mut().zip(all) {
        let left = std::mem::take(&mut fragment.part.states);
        if !left.is_empty() && !ast.taint.everything {
            let names: Vec<Ident> = left.iter().map(|state| state.name.clone()).collect();
            sink.push(unplaced_item::states(&fragment.used, &names, all));
        }
        list.extend(left);
    }
    ast.states = list;
}

/// Returns the states of one line, and true if the fragment has all states that it names.
fn take_states(
    fragment: &mut Fragment,
    (mark, is_lost): (&Mark, bool),
    placed: &mut BTreeMap<String, Span>,
    sink: &mut Sink,
) -> (Vec<State>, bool) {
    let left = &mut fragment.part.states;
    let Some(names) = &mark.names else {
        if left.is_empty() && !is_lost {
            sink.push(unplaced_item::nothing(&mark.fragment, "state"));
        }
        return (std::mem::take(left), true);
    };
    let (mut states, mut is_known) = (Vec::new(), true);
    for name in names {
        let key = name.to_string();
        if let Some(at) = left.iter().position(|state| state.name == *name) {
            placed.insert(key, name.span());
            states.push(left.remove(at));
        } else if let Some(&first) = placed.get(&key) {
            sink.push(declared_twice::diagnostic(name, first));
        } else if is_lost {
            is_known = false;
        } else {
            let known: Vec<String> = left.iter().map(|state| state.name.to_string()).collect();
            let near = unknown_name::nearest(&key, known.iter().map(String::as_str));
            let place = Item::new("fragment", &fragment.used);
            let found = unknown_name::diagnostic(name, "state", &place, near, None);
            sink.push(found);
            is_known = false;
        }
    }
    (states, is_known)
}

/// Inserts the clauses of a fragment at the line of the condition that places them. A condition
/// that only fragments declare is inserted as a whole.
fn conditions(ast: &mut Lifecycle, fragments: &mut [Fragment], sink: &mut Sink) {
    let marks = std::mem::take(&mut ast.marks);
    for at in 0..ast.conditions.len() {
        let of_it = |mark: &&Mark| matches!(mark.list, List::Condition(c) if c == at);
        let here: Vec<&Mark> = marks.iter().filter(of_it).collect();
        let is_lost = ast.taint.everything;
        clauses(&mut ast.conditions[at], fragments, (&here, is_lost), sink);
    }
    let mut first: Vec<(Ident, Condition)> = Vec::new();
    for fragment in fragments {
        for condition in std::mem::take(&mut fragment.part.conditions) {
            let same = first.iter().find(|(_, one)| one.name == condition.name);
            if let Some((other, _)) = same {
                // The lifecycle may declare it in a part that could not be read.
                if ast.taint.covers(&condition.name) {
                    continue;
                }
                let found = unplaced_item::between(&fragment.used, other, &condition.name);
                sink.push(found);
                continue;
            }
            first.push((fragment.used.clone(), condition));
        }
    }
    let shared = first.into_iter().map(|(_, condition)| condition);
    before(&mut ast.conditions, shared.collect());
}

/// Inserts the clauses that fragments declare for one condition.
fn clauses(
    condition: &mut Condition,
    fragments: &mut [Fragment],
    (marks, is_lost): (&[&Mark], bool),
    sink: &mut Sink,
) {
    let mut list: Vec<Clause> = Vec::new();
    let mut own = std::mem::take(&mut condition.clauses).into_iter();
    for at in 0..=own.len() {
        for mark in marks.iter().filter(|mark| mark.at == at) {
            let of_mark = fragments.iter_mut().find(|f| f.used == mark.fragment);
            let Some(fragment) = of_mark else {
                continue;
            };
            let theirs = &mut fragment.part.conditions;
            match theirs.iter().position(|one| one.name == condition.name) {
                Some(at) => list.extend(theirs.remove(at).clauses),
                None if is_lost => {}
                None => sink.push(unplaced_item::nothing(&mark.fragment, "clause")),
            }
        }
        list.extend(own.next());
    }
    for fragment in fragments {
        let theirs = &mut fragment.part.conditions;
        if let Some(at) = theirs.iter().position(|one| one.name == condition.name) {
            theirs.remove(at);
            if is_lost {
                continue;
            }
            sink.push(unplaced_item::clauses(&fragment.used, &condition.name));
        }
    }
    condition.clauses = list;
}

/// Inserts everything that has no significant order.
fn merge_unordered(ast: &mut Lifecycle, fragments: Vec<Fragment>, sink: &mut Sink) {
    for fragment in fragments.into_iter().rev() {
        let (used, part) = (fragment.used, fragment.part);
        before(&mut ast.inputs, part.inputs);
        before(&mut ast.values, part.values);
        before(&mut ast.facts, part.facts);
        before(&mut ast.derived, part.derived);
        before(&mut ast.nevers, part.nevers);
        before(&mut ast.promises, part.promises);
        before(&mut ast.fields, part.fields);
        before(&mut ast.columns, part.columns);
        ast.taint.names.extend(part.taint.names);
        ast.taint.everything |= part.taint.everything;
        if let (Some(own), Some(_)) = (&ast.ready, &part.ready) {
            let found = declared_twice::line_by_fragment("ready", own.span, &used);
            sink.push(found);
        }
        if let (Some(own), Some(_)) = (&ast.implicit, &part.implicit) {
            let found = declared_twice::line_by_fragment("implicit", own.span, &used);
            sink.push(found);
        }
        if let (Some(own), Some(_)) = (ast.kstatus, part.kstatus) {
            sink.push(declared_twice::line_by_fragment("kstatus", own, &used));
        }
        ast.kstatus = ast.kstatus.or(part.kstatus);
        ast.ready = ast.ready.take().or(part.ready);
        ast.implicit = ast.implicit.take().or(part.implicit);
    }
}

fn before<T>(own: &mut Vec<T>, shared: Vec<T>) {
    own.splice(0..0, shared);
}
