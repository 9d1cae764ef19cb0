//! A region has or uses something that belongs elsewhere. A region has `observe`, `facts`,
//! `states`, `effects`, `promises`, `transitions`, `properties` and `status`. It reads what it
//! declares and what the root declares, and writes only what it declares, and no other observes
//! that. Of another region it asks one thing: its state, `migrate == Done`. So regions cannot
//! disturb each other, and each is checked by itself. The root reads nothing of a region, because
//! regions run only where no state of the root holds. Only the `teardown`, `ready from` and the
//! fields of the root name items of regions.
//!
//! ```text
//! region serve { effects { serve: apply server when migrated == Done; } .. }   // refused: `migrated` is a fact of region `migrate`
//! region serve { effects { serve: apply server when migrate == Migrated; } .. }
//! ```

use proc_macro2::{Ident, Span};
use quote::ToTokens;

use crate::ast::{Input, Kind, Lifecycle, Lookup, Mode, Pred, PredKind, Region};
use crate::compose::REGIONS;
use crate::compose::asked::{REFUSED, unmentioned};
use crate::compose::scope::{Mentions, Owners};
use crate::errors::{Diagnostic, Item, Sink};
use crate::rule::{Group, Rule, Run, Severity, Stage};

use super::{circular_regions, declared_twice, silent_region, unknown_name};

pub(super) const RULE: Rule = Rule {
    code: "LC176",
    name: "misfit_region",
    group: Group::Regions,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

const ASK: &str = "of another region one asks its state: write `REGION == STATE`";

/// Reports everything that keeps the regions of a lifecycle from being read one at a time.
pub(crate) fn check(lifecycle: &Lifecycle, sink: &mut Sink) {
    let Some(first) = lifecycle.regions.first() else {
        return;
    };
    if lifecycle.kind == Kind::Volume {
        let help =
            "a call decides what runs, and one call runs at a time: write its states in one list";
        let message = "a volume has no regions".to_owned();
        sink.push(misfit(first.name.span(), &first.name, message, help));
    }
    names_once(lifecycle, sink);
    objects_once(lifecycle, sink);
    let owners = Owners::new(lifecycle);
    let look = Look { lifecycle, owners };
    look.part(lifecycle, None, sink);
    look.teardown(sink);
    for (number, region) in lifecycle.regions.iter().enumerate() {
        states(region, sink);
        look.nevers(region, number, sink);
        look.part(&region.part, Some(number), sink);
    }
    circular_regions::check(lifecycle, sink);
    silent_region::check(lifecycle, sink);
}

/// Reports the first region to readers that know of none.
pub(crate) fn first(lifecycle: &Lifecycle) -> Option<Diagnostic> {
    let region = lifecycle.regions.first()?;
    let message = format!("lifecycle `{}` has regions", lifecycle.name);
    let help = "read the root and each region by itself";
    Some(misfit(region.name.span(), &region.name, message, help))
}

/// A section, or a line beside them, that only a lifecycle has.
pub(crate) fn section(section: &Ident, region: &Ident) -> Diagnostic {
    misfit(
        section.span(),
        region,
        format!("region `{region}` has no `{section}`: it is of the lifecycle as a whole"),
        "move it above the regions; a region has `observe`, `facts`, `states`, `effects`, `promises`, `transitions`, `properties` and `status`",
    )
}

/// A region in a region, or in a fragment.
pub(crate) fn nested(region: &Ident, outer: &str) -> Diagnostic {
    let message = format!("{outer} has no region: `{region}`");
    let help = "a region stands beside the sections of a lifecycle: move it there";
    misfit(region.span(), region, message, help)
}

/// A line of a region that belongs to a lifecycle as a whole: `ready`, `kstatus`, `implicit`.
fn line(span: Span, word: &str, region: &Ident) -> Diagnostic {
    let message = format!("region `{region}` has no `{word}`: there is one for the lifecycle");
    misfit(
        span,
        region,
        message,
        "move it to the `status` above the regions",
    )
}

/// Regions share the names of inputs and facts, because predicates ask them.
fn names_once(lifecycle: &Lifecycle, sink: &mut Sink) {
    let parts = lifecycle.regions.iter().map(|region| &region.part);
    let mut names: Vec<Ident> = Vec::new();
    for part in parts.chain([lifecycle]) {
        names.extend(part.inputs.iter().map(|one| one.name.clone()));
        names.extend(part.values.iter().map(|one| one.name.clone()));
        names.extend(part.facts.iter().map(|one| one.name.clone()));
        names.extend(part.derived.iter().map(|one| one.name.clone()));
    }
    for region in &lifecycle.regions {
        if declared_twice::is_reserved(&region.name) {
            sink.push(declared_twice::reserved(&region.name));
        }
        match names.iter().find(|name| **name == region.name) {
            Some(first) => {
                sink.push(declared_twice::diagnostic(&region.name, first.span()));
            }
            None => names.push(region.name.clone()),
        }
    }
    let mut states = lifecycle.states.iter();
    if let Some(state) = states.find(|state| state.name == REGIONS) {
        sink.push(declared_twice::reserved(&state.name));
    }
}

/// Reports an object that one part writes and another observes under a name of its own. The other
/// would be disturbed by these writes.
fn objects_once(lifecycle: &Lifecycle, sink: &mut Sink) {
    let regions = lifecycle.regions.iter();
    let parts = regions.map(|region| (Some(&region.name), &region.part));
    let mut seen: Vec<(Option<&Ident>, &Input)> = Vec::new();
    for (owner, part) in std::iter::once((None, lifecycle)).chain(parts) {
        for input in part.inputs.iter().filter(|input| input.retired.is_none()) {
            let is_same = |(other, first): &&(Option<&Ident>, &Input)| {
                let is_written = is_ours(input) || is_ours(first);
                *other != owner && is_written && is_one_object(first, input)
            };
            if let (Some(region), Some((other, first))) = (owner, seen.iter().find(is_same)) {
                sink.push(disturbed((region, input), (*other, first)));
            }
            seen.push((owner, input));
        }
    }
}

fn is_ours(input: &Input) -> bool {
    matches!(input.mode, Mode::Owned | Mode::Shared)
}

/// Returns true if two inputs surely find an object of one type. The labels that a builder puts on
/// an object are not known.
fn is_one_object(one: &Input, other: &Input) -> bool {
    let lookup = |input: &Input| match &input.lookup {
        Some((_, Lookup::Name { path, .. })) => Some(path.to_string()),
        Some((_, Lookup::Labels { pairs })) => {
            let pairs = pairs.iter().map(|(key, value)| format!("{key} = {value}"));
            Some(pairs.collect::<Vec<_>>().join(", "))
        }
        Some(_) | None => None,
    };
    let ty = |input: &Input| input.ty.to_token_stream().to_string();
    let is_same = lookup(one).is_some() && lookup(one) == lookup(other);
    ty(one) == ty(other) && (is_same || finds_all(one) || finds_all(other))
}

/// Returns true if an input finds every object of its type that we own, or of the namespace.
fn finds_all(input: &Input) -> bool {
    matches!(input.lookup, Some((_, Lookup::Owner | Lookup::Namespace)))
}

fn disturbed(
    (region, input): (&Ident, &Input),
    (other, first): (Option<&Ident>, &Input),
) -> Diagnostic {
    let (name, first_name) = (&input.name, &first.name);
    let is_one_of_many = finds_all(input) || finds_all(first);
    let apart = match is_one_of_many {
        true => "find by labels what the other does not have",
        false => "give the objects different names or labels",
    };
    let (owner, help) = match other {
        Some(other) => (
            format!("region `{other}`"),
            format!("{apart}, or let only region `{other}` observe it and ask `{other} == STATE`"),
        ),
        None if is_ours(input) => (
            "the root".to_owned(),
            format!("declare `{first_name}` in region `{region}`, or `{name}` above the regions"),
        ),
        None => (
            "the root".to_owned(),
            format!("read `{first_name}`, which every region may"),
        ),
    };
    let all = match is_one_of_many {
        true => "may be one of the objects that",
        false => "is the object that",
    };
    let message = format!(
        "`{name}` of region `{region}` {all} {owner} observes as `{first_name}`: its writes would disturb the other"
    );
    misfit(name.span(), region, message, help)
}

/// Reports states that only a root has, and a region without any.
fn states(region: &Region, sink: &mut Sink) {
    let (name, part) = (&region.name, &region.part);
    if part.states.is_empty() && !part.taint.everything {
        let message = format!("region `{name}` has no states");
        let help = "declare where it can be, the last one as its goal: `states { goal Up when server == Current => Ready; }`";
        sink.push(misfit(name.span(), name, message, help));
    }
    for state in &part.states {
        let phase = state.phase.iter();
        let mut set_aside = phase.filter(|phase| *phase == "Suspended" || *phase == "Ignored");
        if let Some(phase) = set_aside.next() {
            let message = format!(
                "state `{}` of region `{name}` is `{phase}`, which concerns the whole object",
                state.name
            );
            let help = "declare it among the states of the root: where one of these holds, all regions rest";
            sink.push(misfit(phase.span(), name, message, help));
        }
    }
    if let Some(ready) = &part.ready {
        sink.push(line(ready.span, "ready", name));
    }
    if let Some(implicit) = &part.implicit {
        sink.push(line(implicit.condition.span(), "implicit", name));
    }
    if let Some(kstatus) = part.kstatus {
        sink.push(line(kstatus, "kstatus", name));
    }
    if let Some(used) = part.marks.first().map(|mark| &mark.fragment) {
        let message = format!("region `{name}` uses no fragment: `{used}`");
        let help = "use it in the root: its facts are then read by every region";
        sink.push(misfit(used.span(), name, message, help));
    }
}

/// How a name is mentioned.
#[derive(Clone, Copy)]
enum Named {
    State,
    Effect,
    /// A fact that is asked, or an input that is read.
    Asked,
    /// A fact that is changed, or an input that is written.
    Written,
}

struct Look<'a> {
    lifecycle: &'a Lifecycle,
    owners: Owners,
}

impl Look<'_> {
    /// Reports everything that a part mentions and may not.
    fn part(&self, part: &Lifecycle, here: Option<usize>, sink: &mut Sink) {
        let all = Mentions::collect(part);
        for name in &all.asked {
            self.name(name, here, sink);
            if here.is_none() && self.region(name).is_some() {
                sink.push(self.root_asks(name));
            }
        }
        for name in &all.read {
            self.name(name, here, sink);
            if self.region(name).is_some() {
                let message = format!("`{name}` is a region, which has no value to read");
                sink.push(misfit(name.span(), name, message, ASK));
            }
        }
        for name in &all.written {
            if let Some(owner) = self.foreign(self.owners.of_name(name), here) {
                sink.push(self.belongs((name, Named::Written), owner, here));
            }
            if let (Some(region), Some(None)) = (here, self.owners.of_name(name)) {
                sink.push(self.writes_root(name, region));
            }
        }
        for name in &all.states {
            if let Some(owner) = self.foreign(self.owners.of_state(name), here) {
                sink.push(self.belongs((name, Named::State), owner, here));
            }
        }
        for name in &all.effects {
            if let Some(owner) = self.foreign(self.owners.of_effect(name), here) {
                sink.push(self.belongs((name, Named::Effect), owner, here));
            }
        }
        if here.is_some() {
            self.questions(part, sink);
        }
    }

    fn region(&self, name: &Ident) -> Option<&Region> {
        let mut regions = self.lifecycle.regions.iter();
        regions.find(|region| region.name == *name)
    }

    /// Returns the part that declares a mentioned item, if it is another region.
    fn foreign(&self, owner: Option<Option<usize>>, here: Option<usize>) -> Option<usize> {
        owner.flatten().filter(|owner| Some(*owner) != here)
    }

    fn name(&self, name: &Ident, here: Option<usize>, sink: &mut Sink) {
        if let Some(owner) = self.foreign(self.owners.of_name(name), here) {
            sink.push(self.belongs((name, Named::Asked), owner, here));
        }
    }

    fn belongs(
        &self,
        (name, what): (&Ident, Named),
        owner: usize,
        here: Option<usize>,
    ) -> Diagnostic {
        let owner = &self.lifecycle.regions[owner];
        let reader = match here {
            Some(here) => format!("region `{}`", self.lifecycle.regions[here].name),
            None => "the root".to_owned(),
        };
        let state = owner.part.states.iter().rfind(|state| state.goal);
        let state = state.map_or("STATE".to_owned(), |state| state.name.to_string());
        let owner = &owner.name;
        let help = match (what, here) {
            (Named::State | Named::Written, _) => format!("write this line in region `{owner}`"),
            (_, None) => format!(
                "the root is decided before the regions: move what reads it into region `{owner}`, or declare `{name}` above the regions"
            ),
            (Named::Effect, Some(_)) => format!(
                "of another region one asks its state: `{owner} == {state}` orders the writes of two regions"
            ),
            (Named::Asked, Some(_)) => format!(
                "ask the state of the region: `{owner} == {state}`; or declare `{name}` above the regions, if both need it"
            ),
        };
        let what = match what {
            Named::State => "state ",
            Named::Effect => "effect ",
            Named::Asked | Named::Written => "",
        };
        let message =
            format!("{reader} mentions {what}`{name}`, which belongs to region `{owner}`");
        misfit(name.span(), name, message, help)
    }

    fn root_asks(&self, name: &Ident) -> Diagnostic {
        let message = format!("the root asks the state of region `{name}`");
        let help = "the root is decided before the regions: let another region ask, or declare what decides it above the regions";
        misfit(name.span(), name, message, help)
    }

    fn writes_root(&self, name: &Ident, region: usize) -> Diagnostic {
        let region = &self.lifecycle.regions[region].name;
        let message = format!("region `{region}` changes `{name}`, which belongs to the root");
        let help = format!(
            "the root settles before the regions run: declare the effect or promise above the regions, or `{name}` in region `{region}`"
        );
        misfit(name.span(), name, message, help)
    }

    /// Reports worlds that a region rules out and that only the root knows.
    fn nevers(&self, region: &Region, number: usize, sink: &mut Sink) {
        for never in &region.part.nevers {
            let mut facts = never.pred.referenced_facts().into_iter();
            if facts.any(|name| self.owners.of_name(name) == Some(Some(number))) {
                continue;
            }
            let message = format!(
                "region `{}` rules out worlds of the root: `{}`",
                region.name, never.pred
            );
            let help = "declare it above the regions, where the root is checked against it";
            sink.push(misfit(never.span, &region.name, message, help));
        }
    }

    /// Reports a line of the teardown about several regions, which none of them could check.
    fn teardown(&self, sink: &mut Sink) {
        let teardown = self.lifecycle.teardown.iter();
        for step in teardown.clone().flat_map(|all| &all.steps) {
            let preds: Vec<&Pred> = step.when.iter().chain([&step.until]).collect();
            let effect = self.owners.of_effect(&step.effect).flatten();
            self.line_of_teardown(effect, &preds, sink);
        }
        for one in teardown.flat_map(|all| &all.abandoned) {
            self.line_of_teardown(None, &[&one.when], sink);
        }
    }

    fn line_of_teardown(&self, effect: Option<usize>, preds: &[&Pred], sink: &mut Sink) {
        for name in preds.iter().flat_map(|pred| pred.referenced_facts()) {
            if self.region(name).is_some() {
                let message = format!("the teardown asks the state of region `{name}`");
                let help = "during a deletion regions have no states: ask the facts of the region";
                sink.push(misfit(name.span(), name, message, help));
            }
        }
        let mut region = effect;
        let facts = preds.iter().flat_map(|pred| pred.referenced_facts());
        let facts = facts.map(|name| (name, self.owners.of_name(name)));
        let effects = preds.iter().flat_map(|pred| pred.referenced_effects());
        let effects = effects.map(|name| (name, self.owners.of_effect(name)));
        for (name, owner) in facts.chain(effects) {
            let owner = owner.flatten();
            if let (Some(owner), Some(first)) = (owner, region)
                && owner != first
            {
                let [owner, first] = [owner, first].map(|at| &self.lifecycle.regions[at].name);
                let message = format!(
                    "a line of the teardown is about region `{first}` and mentions `{name}`, which belongs to region `{owner}`"
                );
                let help = "write a stage for each region: stages follow each other in order";
                sink.push(misfit(name.span(), name, message, help));
            }
            region = region.or(owner);
        }
    }

    /// Reports questions for a state that the asked region does not have.
    fn questions(&self, part: &Lifecycle, sink: &mut Sink) {
        for pred in part.predicates() {
            self.question(&pred, sink);
        }
    }

    fn question(&self, pred: &Pred, sink: &mut Sink) {
        match &pred.kind {
            PredKind::There(fact) => {
                if let Some(region) = self.region(fact) {
                    let place = Item::new("region", &region.name);
                    sink.push(unknown_name::needs_value(
                        fact,
                        &place,
                        &states_of(region),
                        false,
                    ));
                }
            }
            PredKind::Is { fact, values } => {
                let Some(region) = self.region(fact) else {
                    return;
                };
                let (place, known) = (Item::new("region", &region.name), states_of(region));
                let unknown = values
                    .iter()
                    .filter(|value| !known.contains(&value.to_string()));
                for value in unknown {
                    sink.push(unknown_name::value(value, fact, &place, &known));
                }
            }
            PredKind::Refused(_) => {}
            PredKind::All(parts) | PredKind::Any(parts) => {
                parts.iter().for_each(|part| self.question(part, sink));
            }
            PredKind::Not(part) => self.question(part, sink),
        }
    }
}

/// Returns the states of a region that another may ask for.
fn states_of(region: &Region) -> Vec<String> {
    let states = region
        .part
        .states
        .iter()
        .map(|state| state.name.to_string());
    let is_refused = !unmentioned(&region.part).is_empty();
    states
        .chain(is_refused.then(|| REFUSED.to_owned()))
        .collect()
}

fn misfit(
    span: Span,
    item: &Ident,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Diagnostic {
    RULE.finding(span, item.to_string(), message).help(help)
}
