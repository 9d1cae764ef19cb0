//! Frames: the sources of each variable, hence the variables that an effect can change, and the
//! facts that it acquires or releases. Knows no worlds: everything here follows from the
//! declarations alone.

use std::collections::BTreeSet;

use crate::csi::RequestField;
use crate::model::{
    Effect, EffectId, Input, InputId, Kind, Lifecycle, Lookup, Mode, Origin, Path, Pred, PredKind,
    Source, Use, ValueId, VarId, Verb,
};

/// Something that an answer can depend on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dependency {
    /// The object itself.
    This,
    /// The request of a volume call.
    Request,
    /// One field of it, which a fact reads.
    Field(RequestField),
    Input(InputId),
    Value(ValueId),
    /// A path in a lookup, and its first part alone: `meta.name` and `meta`.
    Path(String),
}

/// Dependencies: the sources that every variable reads, and the variables that every effect can
/// change.
#[derive(Clone, Debug)]
pub struct Frames {
    reads: Vec<BTreeSet<Dependency>>,
    affected: Vec<BTreeSet<VarId>>,
    /// The part of `reads` that decides which object a verdict is about. `None` if more than that
    /// decides about the object, or if the variable is no such verdict.
    found_by: Vec<Option<BTreeSet<Dependency>>>,
    looked_up: Vec<BTreeSet<Dependency>>,
}

impl Frames {
    /// Computes the frames of a lifecycle. Declarations in a circle do no harm.
    pub fn new(lifecycle: &Lifecycle) -> Self {
        let reads = all_reads(lifecycle);
        let affected = lifecycle
            .effects
            .iter()
            .map(|effect| affected(lifecycle, &reads, effect))
            .collect();
        let vars = (0..lifecycle.vars.len()).map(VarId);
        let found_by = vars.map(|var| found_by(lifecycle, &reads, var)).collect();
        let looked_up = |input: &Input| {
            let (mut into, reads) = (Reading::default(), &reads);
            Closure { lifecycle, reads }.lookup(input, &mut into);
            into.places
        };
        let looked_up = lifecycle.inputs.iter().map(looked_up).collect();
        Self {
            reads,
            affected,
            found_by,
            looked_up,
        }
    }

    /// Returns everything that decides which objects an input finds.
    pub fn looked_up(&self, input: InputId) -> &BTreeSet<Dependency> {
        &self.looked_up[input.0]
    }

    /// Returns everything that a variable is computed from: through `from`, values, lookups and
    /// `given`. Empty for refusals and for facts of the object itself.
    pub fn reads(&self, var: VarId) -> &BTreeSet<Dependency> {
        &self.reads[var.0]
    }

    /// Returns true if a change of these places moves a verdict between `Stale` and `Current` at
    /// most. They decide about the wanted content, and never about the object that is found.
    pub fn is_only_compared(&self, var: VarId, places: &BTreeSet<Dependency>) -> bool {
        let found_by = self.found_by[var.0].as_ref();
        found_by.is_some_and(|found_by| found_by.is_disjoint(places))
    }

    /// Returns true if a write of this effect moves a verdict between `Stale` and `Current` at
    /// most. Lookups do not use the fields of ours in an object of another controller or user.
    pub fn is_only_compared_by(&self, var: VarId, effect: &Effect, lifecycle: &Lifecycle) -> bool {
        let target = &lifecycle.inputs[effect.target.0];
        let found_by = self.found_by[var.0].as_ref();
        found_by.is_some_and(|found_by| match target.mode == Mode::Part {
            true => target.var != Some(var),
            false => !found_by.contains(&Dependency::Input(effect.target)),
        })
    }

    /// Returns the variables that an effect can change, apart from refusals: those that read its
    /// target. Our own call never changes the availability of a poll.
    pub fn affected(&self, effect: EffectId) -> &BTreeSet<VarId> {
        &self.affected[effect.0]
    }
}

impl Pred {
    /// Returns the variables that a predicate queries.
    pub fn vars(&self) -> BTreeSet<VarId> {
        let mut vars = BTreeSet::new();
        self.collect_vars(&mut vars);
        vars
    }

    fn collect_vars(&self, vars: &mut BTreeSet<VarId>) {
        match &self.kind {
            PredKind::Is { var, .. } => {
                vars.insert(*var);
            }
            PredKind::All(parts) | PredKind::Any(parts) => {
                parts.iter().for_each(|part| part.collect_vars(vars));
            }
            PredKind::Not(part) => part.collect_vars(vars),
        }
    }
}

/// Reason that an effect is harmless if it runs on a stale cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Safety {
    /// An apply over an existing object: its uid is known, and our own writes are fenced.
    Level,
    /// An apply that may create: it never takes over an existing object.
    Create,
    /// A deletion or a read-modify-write: under the uid and the resource version that were seen.
    Guarded,
    /// A call: idempotent under its key, under a lease that outlives its time-out.
    Keyed,
}

impl Effect {
    /// The derived safety class.
    pub fn safety(&self, lifecycle: &Lifecycle) -> Safety {
        // A write that has not observed the target would lose a value that is read back from it.
        let keeps = |value: ValueId| {
            let mint = lifecycle.values[value.0].mint.as_ref();
            mint.is_some_and(|mint| mint.keeper == self.target)
        };
        let own_target = |one: &Use| match one.source {
            Source::Input(input) => input == self.target,
            Source::Value(value) => keeps(value),
            Source::This | Source::Request | Source::Field(_) | Source::Fact(_) => false,
        };
        match (self.verb, lifecycle.inputs[self.target.0].mode) {
            (Verb::Call, _) => Safety::Keyed,
            (Verb::Delete | Verb::Adopt | Verb::Note, _) => Safety::Guarded,
            (Verb::Create, _) => Safety::Create,
            (Verb::Apply, _) if self.from.iter().any(own_target) => Safety::Guarded,
            (Verb::Apply, Mode::Owned | Mode::Shared | Mode::Group) => Safety::Create,
            // The previous record must not be lost.
            (Verb::Apply, Mode::Record | Mode::Noted) => Safety::Guarded,
            (Verb::Apply, Mode::Watched | Mode::Part | Mode::Poll | Mode::Probe | Mode::Clock) => {
                Safety::Level
            }
        }
    }

    /// Returns the input that owns the object of an `apply`. It must exist, because an owner
    /// reference carries its uid.
    pub fn owner(&self, lifecycle: &Lifecycle) -> Option<InputId> {
        let owner = lifecycle.inputs[self.target.0].of;
        owner.filter(|_| matches!(self.verb, Verb::Apply | Verb::Adopt | Verb::Create))
    }

    /// The effects that stand before an `apply` and build the same object, or the same set: the first that is permitted decides.
    pub fn rivals<'a>(&'a self, lifecycle: &'a Lifecycle) -> impl Iterator<Item = EffectId> + 'a {
        let before = lifecycle.effects.iter().enumerate();
        let before = before.take_while(|(_, other)| other.name != self.name);
        let builds = before.filter(|(_, other)| self.verb == Verb::Apply && other.builds_as(self));
        builds.map(|(at, _)| EffectId(at))
    }

    /// Returns true if another effect builds the same object, so that permissions decide between
    /// them.
    pub fn is_one_of_several(&self, lifecycle: &Lifecycle) -> bool {
        let builders = lifecycle
            .effects
            .iter()
            .filter(|other| other.builds_as(self));
        self.verb == Verb::Apply && builders.count() > 1
    }

    fn builds_as(&self, other: &Self) -> bool {
        let same = (self.target, self.each) == (other.target, other.each);
        self.verb == Verb::Apply && same
    }

    /// Returns the held facts that this effect may acquire and that another effect has to release,
    /// in order of mention. Leaves out facts that it releases itself.
    pub fn acquires(&self, lifecycle: &Lifecycle) -> Vec<VarId> {
        let mut vars = self.takes(lifecycle);
        vars.retain(|var| !self.lets_go(lifecycle, *var));
        vars
    }

    /// Returns the held facts that this effect may set to an acquired value, in order of mention.
    pub fn takes(&self, lifecycle: &Lifecycle) -> Vec<VarId> {
        self.held_vars(lifecycle, false)
    }

    /// Returns the held facts that this effect may release, in order of mention. A release that it
    /// begins and the environment ends counts as well.
    pub fn frees(&self, lifecycle: &Lifecycle) -> Vec<VarId> {
        let mut vars = self.held_vars(lifecycle, true);
        for var in self.takes(lifecycle) {
            if self.lets_go(lifecycle, var) && !vars.contains(&var) {
                vars.push(var);
            }
        }
        vars
    }

    /// Returns true if the effect releases a fact although the value that it sets is not free yet.
    /// The call was accepted, and the environment completes it. This holds for an undo of an effect
    /// that acquires the fact, and for stages of the teardown. It does not hold for an effect with
    /// an undo of its own. It does not hold in a volume either, because the answer of a call
    /// reports completion.
    fn lets_go(&self, lifecycle: &Lifecycle, var: VarId) -> bool {
        let undone_here = |other: &Effect| {
            let undo = other.undo.map(|(undo, _)| &lifecycle.effects[undo.0].name);
            undo == Some(&self.name) && other.takes(lifecycle).contains(&var)
        };
        let is_volume = lifecycle.kind == Kind::Volume;
        !is_volume
            && self.undo.is_none()
            && (self.is_step || lifecycle.effects.iter().any(undone_here))
    }

    fn held_vars(&self, lifecycle: &Lifecycle, free: bool) -> Vec<VarId> {
        let mut vars = Vec::new();
        for assign in self.sets.iter().flatten() {
            let held = lifecycle.vars[assign.var.0].held;
            if held.is_some_and(|held| held.free.contains(assign.value) == free)
                && !vars.contains(&assign.var)
            {
                vars.push(assign.var);
            }
        }
        vars
    }
}

fn all_reads(lifecycle: &Lifecycle) -> Vec<BTreeSet<Dependency>> {
    let mut reads = vec![BTreeSet::new(); lifecycle.vars.len()];
    loop {
        let closure = Closure {
            lifecycle,
            reads: &reads,
        };
        let next: Vec<_> = (0..lifecycle.vars.len())
            .map(|var| closure.of_var(VarId(var)))
            .collect();
        if next == reads {
            return reads;
        }
        reads = next;
    }
}

/// One round: the sources that are read if the variables in each `given` read the sources of the
/// last round.
struct Closure<'a> {
    lifecycle: &'a Lifecycle,
    reads: &'a [BTreeSet<Dependency>],
}

/// Sources that one variable reads, as far as they were followed. Findings of the last round are
/// read but not followed. Otherwise one round could find less than the previous one, and circular
/// declarations would never terminate.
#[derive(Default)]
struct Reading {
    places: BTreeSet<Dependency>,
    followed: BTreeSet<Dependency>,
}

impl Reading {
    /// Returns true if the place must be followed now.
    fn enters(&mut self, place: Dependency) -> bool {
        self.places.insert(place.clone());
        self.followed.insert(place)
    }
}

impl Closure<'_> {
    fn of_var(&self, id: VarId) -> BTreeSet<Dependency> {
        let mut into = Reading::default();
        let var = &self.lifecycle.vars[id.0];
        match &var.origin {
            Origin::Input(input) => {
                self.input(*input, &mut into);
                if let Some(path) = &self.lifecycle.inputs[input.0].only_if {
                    self.path(path, &mut into);
                }
                // Where it is retained it has no owner reference.
                if let Some(retain) = &self.lifecycle.inputs[input.0].retain {
                    self.pred(retain, &mut into);
                }
                if let Some(record) = self.lifecycle.inputs[input.0].noted {
                    self.input(record, &mut into);
                }
                // The wanted members decide the missing ones.
                for effect in &self.lifecycle.effects {
                    if effect.target == *input && effect.verb == Verb::Create && effect.each {
                        self.uses(&effect.from, &mut into);
                    }
                }
                // Stale or Current is the result of a comparison with the built object.
                for effect in &self.lifecycle.effects {
                    if effect.target == *input && effect.verb == Verb::Apply {
                        self.uses(&effect.from, &mut into);
                        // Of several builders permissions decide which of them it is.
                        if let Some(when) = &effect.when
                            && effect.is_one_of_several(self.lifecycle)
                        {
                            self.pred(when, &mut into);
                        }
                    }
                }
            }
            Origin::Fact { from, .. } => {
                self.uses(from, &mut into);
                for guard in &var.given {
                    self.pred(&guard.pred, &mut into);
                }
            }
            Origin::Refused(_) | Origin::Deleting | Origin::Claimed => {}
        }
        into.places
    }

    fn uses<'b>(&self, uses: impl IntoIterator<Item = &'b Use>, into: &mut Reading) {
        for one in uses {
            match one.source {
                Source::This => {
                    into.places.insert(Dependency::This);
                }
                Source::Request => {
                    into.places.insert(Dependency::Request);
                }
                Source::Field(field) => {
                    into.places.insert(Dependency::Field(field));
                }
                Source::Input(input) => self.input(input, into),
                Source::Value(value) => self.value(value, into),
                Source::Fact(fact) => into.places.extend(self.reads[fact.0].iter().cloned()),
            }
        }
    }

    fn value(&self, id: ValueId, into: &mut Reading) {
        if into.enters(Dependency::Value(id)) {
            let value = &self.lifecycle.values[id.0];
            // The `until` alone decides when a value is renewed; the time of its creation changes
            // nothing.
            let is_made_at =
                |one: &&Use| value.mint.is_some() && self.lifecycle.is_clock(one.source);
            let read = value.from.iter().filter(|one| !is_made_at(one));
            self.uses(read, into);
            // A value is absent if its `given` fails, and its readers depend on that.
            if let Some(given) = &value.given {
                self.pred(given, into);
            }
            if let Some(until) = value.mint.as_ref().and_then(|mint| mint.until.as_ref()) {
                self.pred(until, into);
            }
        }
    }

    fn input(&self, id: InputId, into: &mut Reading) {
        if into.enters(Dependency::Input(id)) {
            let input = &self.lifecycle.inputs[id.0];
            self.lookup(input, into);
            if let Some(given) = &input.given {
                self.pred(given, into);
            }
            // A write of a group is one of its members.
            if let Some(group) = input.group {
                into.places.insert(Dependency::Input(group));
            }
            for (member, _) in self.lifecycle.members(id) {
                self.input(member, into);
            }
        }
    }

    fn lookup(&self, input: &Input, into: &mut Reading) {
        match &input.lookup {
            Lookup::Name { path, .. } => self.path(path, into),
            Lookup::Names { of } | Lookup::Refs { of } => self.uses(of, into),
            Lookup::Ref { from } => self.uses(from, into),
            Lookup::Keys(keys) => {
                for key in keys {
                    match &key.input {
                        Some(input) => self.uses(std::slice::from_ref(input), into),
                        None => self.path(&key.path, into),
                    }
                }
            }
            Lookup::Labels { pairs } => {
                for (_, path) in pairs {
                    self.path_of_input(path, into);
                }
            }
            Lookup::Equal { ours, .. } => {
                self.path_of_input(ours, into);
            }
            Lookup::None | Lookup::Owner | Lookup::Namespace => {}
        }
    }

    fn path(&self, path: &Path, into: &mut Reading) {
        if self.path_of_input(path, into) {
            return;
        }
        let parts: Vec<String> = path.parts.iter().map(ToString::to_string).collect();
        into.places.insert(match parts[0].as_str() {
            "request" => Dependency::Request,
            first => Dependency::Path(first.to_owned()),
        });
        into.places.insert(Dependency::Path(parts.join(".")));
    }

    fn path_of_input(&self, path: &Path, into: &mut Reading) -> bool {
        let found = self
            .lifecycle
            .inputs
            .iter()
            .position(|input| path.parts.first() == Some(&input.name));
        if let Some(input) = found {
            self.input(InputId(input), into);
        }
        found.is_some()
    }

    fn pred(&self, pred: &Pred, into: &mut Reading) {
        for var in pred.vars() {
            into.places.extend(self.reads[var.0].iter().cloned());
        }
    }
}

/// Returns the places that decide which object a verdict is about. They are the object itself, its
/// lookup and its owner: a builder decides only if the object is as wanted. Its own `given` decides
/// if the verdict is evaluated at all. Of a set, the builder decides about the members as well. An
/// object that is created once is never compared.
fn found_by(
    lifecycle: &Lifecycle,
    reads: &[BTreeSet<Dependency>],
    var: VarId,
) -> Option<BTreeSet<Dependency>> {
    let Origin::Input(id) = lifecycle.vars[var.0].origin else {
        return None;
    };
    let input = &lifecycle.inputs[id.0];
    let is_compared = match input.mode {
        Mode::Owned | Mode::Shared | Mode::Part | Mode::Record => true,
        Mode::Watched | Mode::Noted | Mode::Poll | Mode::Probe | Mode::Clock | Mode::Group => false,
    };
    let mut into = Reading::default();
    into.places.insert(Dependency::Input(id));
    let closure = Closure { lifecycle, reads };
    closure.lookup(input, &mut into);
    // Whose object it is depends on the owner.
    if let Some(owner) = input.of {
        closure.input(owner, &mut into);
    }
    (is_compared && !input.many && input.noted.is_none()).then_some(into.places)
}

fn affected(
    lifecycle: &Lifecycle,
    reads: &[BTreeSet<Dependency>],
    effect: &Effect,
) -> BTreeSet<VarId> {
    let target = &lifecycle.inputs[effect.target.0];
    let vars = (0..lifecycle.vars.len()).map(VarId);
    vars.filter(|&var| match target.mode {
        Mode::Part => reads_directly(lifecycle, var, effect.target),
        Mode::Poll if target.var == Some(var) => false,
        Mode::Watched
        | Mode::Owned
        | Mode::Shared
        | Mode::Record
        | Mode::Noted
        | Mode::Poll
        | Mode::Probe
        | Mode::Clock
        | Mode::Group => reads[var.0].contains(&Dependency::Input(effect.target)),
    })
    .collect()
}

/// Returns true if a variable reads the target directly. A write of our own fields in an object of
/// another controller or user reaches only direct readers, because lookups do not use the fields
/// that we write.
fn reads_directly(lifecycle: &Lifecycle, var: VarId, target: InputId) -> bool {
    match &lifecycle.vars[var.0].origin {
        Origin::Input(input) => {
            *input == target
                || lifecycle.effects.iter().any(|effect| {
                    let asks = effect.is_one_of_several(lifecycle)
                        && effect
                            .when
                            .iter()
                            .flat_map(|when| when.vars())
                            .any(|asked| asked != var && is_told_by(lifecycle, asked, target));
                    effect.target == *input && (asks || is_read_in(lifecycle, &effect.from, target))
                })
        }
        Origin::Fact { from, .. } => is_read_in(lifecycle, from, target),
        Origin::Refused(_) | Origin::Deleting | Origin::Claimed => false,
    }
}

/// Returns true if a variable is the verdict on the target, or a fact about it.
fn is_told_by(lifecycle: &Lifecycle, var: VarId, target: InputId) -> bool {
    match &lifecycle.vars[var.0].origin {
        Origin::Input(input) => *input == target,
        Origin::Fact { from, .. } => is_read_in(lifecycle, from, target),
        Origin::Refused(_) | Origin::Deleting | Origin::Claimed => false,
    }
}

/// Returns true if the arguments contain the target itself, or a value made of it.
pub(crate) fn is_read_in(lifecycle: &Lifecycle, from: &[Use], target: InputId) -> bool {
    from.iter()
        .any(|one| hands_over(lifecycle, one.source, target, lifecycle.values.len()))
}

/// Returns true if a source is the target, or a value made of it. `depth` bounds values that are
/// declared in a circle.
fn hands_over(lifecycle: &Lifecycle, source: Source, target: InputId, depth: usize) -> bool {
    match source {
        Source::Input(input) => input == target,
        Source::Value(value) => {
            depth > 0
                && lifecycle.values[value.0]
                    .from
                    .iter()
                    .any(|one| hands_over(lifecycle, one.source, target, depth - 1))
        }
        Source::This | Source::Request | Source::Field(_) | Source::Fact(_) => false,
    }
}
