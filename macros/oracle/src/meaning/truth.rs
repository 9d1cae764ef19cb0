//! Actual world: every question is evaluated on the objects as they are, as soon as its
//! dependencies are known. Knows the language: the moment at which a question is evaluated, and its
//! arguments. A [`Reality`] knows the contents of objects.

mod group;
mod once;
mod optional;

use std::cell::RefCell;

use super::{Meaning, Named};
use crate::calls::{Visibility, rpc};
use crate::syntax::{Effect, Input};
use crate::worlds::{Test, Value};

/// Argument that an author's method receives for one name of a `from`.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument<O> {
    /// The object itself.
    This,
    /// An input of one object or answer; `None` if it is absent or we may not read it.
    One(Option<O>),
    /// An input of many.
    Many(Vec<O>),
    /// A shared value, as the sources that it is computed from; `None` if it is not computed.
    Value(Option<Vec<(String, Argument<O>)>>),
    /// The value of a fact.
    Fact(String),
}

/// Names of a `from` with their arguments.
pub type Given<O> = Vec<(String, Argument<O>)>;

/// Result of the lookup of an input.
#[derive(Clone, Debug)]
pub struct LookupResult<O> {
    /// True if the object names the objects to look for at all.
    pub named: bool,
    /// Objects that were found.
    pub objects: Vec<O>,
}

/// One member of a set that is ours to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Member {
    /// Missing, or not as wanted.
    Behind,
    /// Not wanted.
    Surplus,
    /// Being deleted.
    Draining,
    /// Owned by another controller or user.
    Foreign,
    /// As wanted.
    Current,
}

/// Ties of an object to its owner.
#[derive(Clone, Copy, Debug)]
pub struct Tie<'a, O> {
    /// Another input's object that owns it.
    pub owner: Option<&'a O>,
    /// True if it is retained now; `None` if nothing of the input is ever retained.
    pub retained: Option<bool>,
}

/// Contents of objects, and the results that the authors' methods compute from them.
pub trait Reality {
    /// An object, or the answer of a poll, or a record.
    type Object: Clone;

    /// Returns true if the object itself is being deleted, and true if our finalizer is on it.
    fn standing(&self) -> (bool, bool);
    /// Returns the objects of an input. Its lookup depends on these arguments.
    fn find(&self, input: &str, from: &Given<Self::Object>) -> LookupResult<Self::Object>;
    /// Returns true if an object of an input is ours: of the object itself, or of another input's
    /// object. If the object is kept, its keeper counts too.
    fn is_ours(&self, object: &Self::Object, owner: Option<&Self::Object>, kept: bool) -> bool;
    /// Returns true if the object has no owner, no keeper that may exist, and is not being deleted.
    fn is_nobodys(&self, object: &Self::Object, owner: Option<&Self::Object>) -> bool;
    /// Returns true if the object goes with its owner, or is kept, as it should. A retained or
    /// adopted object is kept.
    fn is_tied(&self, object: &Self::Object, owner: Option<&Self::Object>, retained: bool) -> bool;
    /// Returns true if the object is being deleted.
    fn is_leaving(&self, object: &Self::Object) -> bool;
    /// Returns the index of the answer that a method gives.
    fn answer(
        &self,
        fact: &str,
        held: bool,
        answers: &[String],
        from: &Given<Self::Object>,
    ) -> usize;
    /// Returns true if an object is as an effect builds it.
    fn is_as_built(&self, effect: &str, from: &Given<Self::Object>, object: &Self::Object) -> bool;
    /// The members of a set: wanted ones and found ones.
    fn members(
        &self,
        input: &str,
        built: Option<(&str, &Given<Self::Object>)>,
        found: &[Self::Object],
        tie: Tie<'_, Self::Object>,
    ) -> Vec<Member>;
    /// Returns true if the builder of a member of a group wants that member, in case it may want none.
    fn is_wanted(&self, _effect: &str, _member: &str, _from: &Given<Self::Object>) -> bool {
        true
    }
    /// Returns true if a member of a group is as an effect builds it.
    fn is_member_as_built(
        &self,
        effect: &str,
        _member: &str,
        from: &Given<Self::Object>,
        object: &Self::Object,
    ) -> bool {
        self.is_as_built(effect, from, object)
    }
    /// Returns true if the object of the lifecycle has a value at the path behind the `if` of an
    /// input.
    fn is_asked_for(&self, _input: &str) -> bool {
        true
    }
    /// The names that a `record of` has. A volume has none.
    fn noted(&self, _record: &str) -> Vec<String> {
        Vec::new()
    }
    /// Returns the name of an object.
    fn called(&self, _object: &Self::Object) -> String {
        String::new()
    }
    /// The name that one object is looked up by.
    fn sought(&self, _input: &str, _from: &Given<Self::Object>) -> Option<String> {
        None
    }
    /// The names of the members that a set is to have.
    fn desired_names(&self, _input: &str, _from: &Given<Self::Object>) -> Vec<String> {
        Vec::new()
    }
    /// The object of an input's kind with this name.
    fn named(&self, _input: &str, _name: &str) -> Option<Self::Object> {
        None
    }
}

/// Returns the world of these objects, with refusals as last observed. `Err` names a circular dependency.
pub fn truth<R: Reality>(
    meaning: &Meaning<'_>,
    reality: &R,
    observed: &Named,
) -> Result<Named, String> {
    the_world(Evaluation::new(meaning, reality, None), observed)
}

/// Like `truth`, as one call of a volume observes it: a field that its request does not carry is absent, and has the first value.
pub fn truth_of_call<R: Reality>(
    meaning: &Meaning<'_>,
    reality: &R,
    call: &str,
    observed: &Named,
) -> Result<Named, String> {
    the_world(Evaluation::new(meaning, reality, Some(call)), observed)
}

fn the_world<R: Reality>(asking: Evaluation<'_, R>, observed: &Named) -> Result<Named, String> {
    let meaning = asking.meaning;
    for var in 0..meaning.worlds.vars.len() {
        if !meaning.worlds.vars[var].is_refusal() {
            asking.value(var)?;
        }
    }
    let mut world: Vec<Value> = asking
        .known
        .borrow()
        .iter()
        .map(|v| v.unwrap_or_default())
        .collect();
    for (at, var) in meaning.worlds.vars.iter().enumerate() {
        if var.is_refusal() {
            let refused = observed.get(&var.name).is_some_and(|said| said == "true");
            let asked = meaning.worlds.unasked(at, &world).is_none();
            world[at] = Value::from(refused && asked);
        }
    }
    Ok(meaning.named(&world))
}

/// Returns the arguments that the method of a fact receives now, if the fact is evaluated.
pub fn given_to<R: Reality>(
    meaning: &Meaning<'_>,
    reality: &R,
    fact: &str,
) -> Option<Given<R::Object>> {
    Evaluation::new(meaning, reality, None).given_to(fact)
}

/// The same in one call of a volume.
pub fn given_in_call<R: Reality>(
    meaning: &Meaning<'_>,
    reality: &R,
    call: &str,
    fact: &str,
) -> Option<Given<R::Object>> {
    Evaluation::new(meaning, reality, Some(call)).given_to(fact)
}

/// Returns the arguments that the builder of an effect receives now in one call of a volume; `None` if any of them is missing.
pub fn built_in_call<R: Reality>(
    meaning: &Meaning<'_>,
    reality: &R,
    call: &str,
    effect: &str,
) -> Option<Given<R::Object>> {
    let asking = Evaluation::new(meaning, reality, Some(call));
    let from = asking.given(&meaning.life().effect(effect)?.from).ok()?;
    (!from.iter().any(is_missing)).then_some(from)
}

/// Returns the objects that one call of a volume finds for an input now.
pub fn found_in_call<R: Reality>(
    meaning: &Meaning<'_>,
    reality: &R,
    call: &str,
    input: &str,
) -> Vec<R::Object> {
    let asking = Evaluation::new(meaning, reality, Some(call));
    let found = meaning.life().input(input).map(|input| asking.found(input));
    found
        .and_then(Result::ok)
        .map(|sought| sought.objects)
        .unwrap_or_default()
}

fn is_missing<O>((_, seen): &(String, Argument<O>)) -> bool {
    matches!(seen, Argument::One(None) | Argument::Value(None))
}

struct Evaluation<'a, R: Reality> {
    meaning: &'a Meaning<'a>,
    reality: &'a R,
    /// Of a call; everything else sees everything.
    sight: Option<Visibility<'a>>,
    known: RefCell<Vec<Option<Value>>>,
    /// Variables under evaluation.
    open: RefCell<Vec<usize>>,
}

impl<'a, R: Reality> Evaluation<'a, R> {
    fn new(meaning: &'a Meaning<'a>, reality: &'a R, call: Option<&str>) -> Self {
        let sight = |call| Visibility::new(meaning.life(), meaning.worlds, rpc(call));
        Self {
            meaning,
            reality,
            sight: call.map(sight),
            known: RefCell::new(vec![None; meaning.worlds.vars.len()]),
            open: RefCell::new(Vec::new()),
        }
    }

    fn given_to(&self, fact: &str) -> Option<Given<R::Object>> {
        let var = self.meaning.worlds.var(fact)?;
        for (test, _) in &self.meaning.worlds.vars[var].chain {
            self.holds(test).ok().filter(|holds| *holds)?;
        }
        self.given(&self.meaning.life().fact(fact)?.from).ok()
    }

    fn value(&self, var: usize) -> Result<Value, String> {
        if let Some(value) = self.known.borrow()[var] {
            return Ok(value);
        }
        let worlds = self.meaning.worlds;
        if self.open.borrow().contains(&var) {
            return Err(worlds.vars[var].name.clone());
        }
        self.open.borrow_mut().push(var);
        let value = self.evaluate_var(var);
        self.open.borrow_mut().pop();
        let value = value?;
        self.known.borrow_mut()[var] = Some(value);
        Ok(value)
    }

    fn evaluate_var(&self, var: usize) -> Result<Value, String> {
        let worlds = self.meaning.worlds;
        let of = &worlds.vars[var];
        for (test, other) in &of.chain {
            if !self.holds(test)? {
                return Ok(*other);
            }
        }
        let sees = |sight: &Visibility<'_>| sight.answers(&of.name, None);
        if !self.sight.as_ref().is_none_or(sees) {
            return Ok(of.answers[0]);
        }
        if Some(var) == worlds.deleting || Some(var) == worlds.claimed {
            let (deleting, claimed) = self.reality.standing();
            return Ok(Value::from(if Some(var) == worlds.deleting {
                deleting
            } else {
                claimed
            }));
        }
        let life = self.meaning.life();
        if let Some(input) = life.input(&of.name) {
            let word = self.brought(var, input)?;
            return Ok(self.builtin_value(var, word));
        }
        let fact = life.fact(&of.name).ok_or_else(|| of.name.clone())?;
        let from = self.given(&fact.from)?;
        let words: Vec<String> = of.answers.iter().map(|v| worlds.spell(*v)).collect();
        let answer = self.reality.answer(&of.name, fact.held, &words, &from);
        Ok(of.answers[answer])
    }

    /// The value of a built-in fact; those that it does not have mean that nothing was found.
    fn builtin_value(&self, var: usize, word: &str) -> Value {
        let (worlds, value) = (self.meaning.worlds, self.meaning.worlds.find_value(word));
        let has = worlds.vars[var].answers.contains(&value);
        if has {
            value
        } else {
            worlds.find_value("Absent")
        }
    }

    fn holds(&self, test: &Test) -> Result<bool, String> {
        Ok(match test {
            Test::And(left, right) => self.holds(left)? && self.holds(right)?,
            Test::Or(left, right) => self.holds(left)? || self.holds(right)?,
            Test::Not(inner) => !self.holds(inner)?,
            Test::Is(var, values) => values.contains(&self.value(*var)?),
            // The memory of a write records its refusal.
            Test::Enabled(_) => true,
        })
    }

    fn given(&self, names: &[String]) -> Result<Given<R::Object>, String> {
        names
            .iter()
            .map(|name| Ok((name.clone(), self.seen(name)?)))
            .collect()
    }

    /// Returns the argument that a name means in a `from`: an object as it is, without a verdict on it.
    fn seen(&self, path: &str) -> Result<Argument<R::Object>, String> {
        let name = path.split('.').next().unwrap_or_default();
        let life = self.meaning.life();
        if let Some(fact) = life.fact(name) {
            let var = self
                .meaning
                .worlds
                .var(&fact.name)
                .ok_or_else(|| name.to_owned())?;
            return Ok(Argument::Fact(self.meaning.worlds.spell(self.value(var)?)));
        }
        if let Some(value) = life.value(name) {
            let asked = value
                .given
                .as_ref()
                .map(|given| self.meaning.worlds.test(given));
            let computed = asked.map_or(Ok(true), |test| self.holds(&test))?;
            return Ok(Argument::Value(if computed {
                Some(self.given(&value.from)?)
            } else {
                None
            }));
        }
        let Some(input) = life.input(name) else {
            return Ok(Argument::This);
        };
        let found = self.found(input)?.objects;
        if input.many {
            return Ok(Argument::Many(found));
        }
        let first = found.into_iter().next();
        let usable = match &first {
            Some(object) => self.is_usable(input, object)?,
            None => false,
        };
        Ok(Argument::One(first.filter(|_| usable)))
    }

    fn is_usable(&self, input: &Input, object: &R::Object) -> Result<bool, String> {
        let ours = input.own != "owned" || self.is_ours(input, object)?;
        let leaves =
            matches!(input.own.as_str(), "owned" | "shared") && self.reality.is_leaving(object);
        let is_new = self.meaning.life().creates(&input.name) && !self.is_noted(input, object);
        Ok(ours && (!leaves || is_new))
    }

    fn is_ours(&self, input: &Input, object: &R::Object) -> Result<bool, String> {
        let owner = self.owner(input)?;
        let kept = self.meaning.life().keeps(input);
        let is_ours = || self.reality.is_ours(object, owner.as_ref(), kept);
        Ok((input.of.is_none() || owner.is_some()) && is_ours())
    }

    /// The object of another input that owns those of this one.
    fn owner(&self, input: &Input) -> Result<Option<R::Object>, String> {
        let owner = input
            .of
            .as_ref()
            .and_then(|of| self.meaning.life().input(of));
        Ok(match owner {
            Some(owner) => self.found(owner)?.objects.into_iter().next(),
            None => None,
        })
    }

    fn found(&self, input: &Input) -> Result<LookupResult<R::Object>, String> {
        let asked = input
            .given
            .as_ref()
            .map(|given| self.meaning.worlds.test(given));
        let finds = |sight: &Visibility<'_>| sight.finds(input);
        if !self.sight.as_ref().is_none_or(finds)
            || !asked.map_or(Ok(true), |test| self.holds(&test))?
        {
            return Ok(LookupResult {
                named: true,
                objects: Vec::new(),
            });
        }
        let from = self.given(&input.lookup())?;
        Ok(self.reality.find(&input.name, &from))
    }

    fn brought(&self, var: usize, input: &Input) -> Result<&'static str, String> {
        let sought = self.found(input)?;
        let first = sought.objects.first();
        let once = self.meaning.life().creates(&input.name);
        Ok(match (input.own.as_str(), input.many, first) {
            ("owned", true, _) if once => self.created_set(input, &sought.objects)?,
            ("owned", false, first) if once => self.created(input, first)?,
            ("owned", false, first) if !self.is_asked_for(input) => self.unwanted(input, first)?,
            ("owned" | "shared", true, _) => self.worst(input, &sought.objects)?,
            ("group", ..) => self.worst_of_group(input)?,
            ("poll", _, Some(_)) => "Known",
            ("poll", _, None) => "Unknown",
            ("owned" | "shared" | "part" | "record", _, None) => "Absent",
            ("owned" | "shared" | "part" | "record", _, Some(object)) => {
                self.verdict(var, input, object)?
            }
            (_, _, Some(_)) => "Present",
            (_, _, None) if sought.named => "Absent",
            (_, _, None) => "Unnamed",
        })
    }

    /// Returns the verdict on an existing object that we may write. The first permitted effect
    /// decides, or else the first that can build.
    fn verdict(
        &self,
        var: usize,
        input: &Input,
        object: &R::Object,
    ) -> Result<&'static str, String> {
        if input.own == "owned" && !self.is_ours(input, object)? {
            let owner = self.owner(input)?;
            let has_owner = input.of.is_none() || owner.is_some();
            let free = has_owner && self.reality.is_nobodys(object, owner.as_ref());
            let adopted = free && self.meaning.life().adopts(&input.name);
            return Ok(if adopted { "Adoptable" } else { "Foreign" });
        }
        if matches!(input.own.as_str(), "owned" | "shared") && self.reality.is_leaving(object) {
            return Ok("Terminating");
        }
        let applies =
            |effect: &&Effect| effect.on == input.name && effect.verb == "apply" && !effect.each;
        let effects: Vec<&Effect> = self.meaning.life().effects.iter().filter(applies).collect();
        let mut able = None;
        for effect in &effects {
            let from = self.given(&effect.from)?;
            if self.lacks(&from)? {
                continue;
            }
            able = able.or(Some((*effect, from.clone())));
            if effects.len() > 1 && !self.is_permitted(var, effect)? {
                continue;
            }
            able = Some((*effect, from));
            break;
        }
        let owner = self.owner(input)?;
        let tied = match self.retained(input)? {
            Some(retained) => self.reality.is_tied(object, owner.as_ref(), retained),
            None => true,
        };
        Ok(match able {
            Some((effect, from))
                if tied
                    && self.reality.is_as_built(&effect.name, &from, object)
                    && !self.is_to_be_made_anew(effect)? =>
            {
                "Current"
            }
            Some(_) | None => "Stale",
        })
    }

    /// Returns true if the object is retained now; `None` if the declaration does not mention retention.
    fn retained(&self, input: &Input) -> Result<Option<bool>, String> {
        if !self.meaning.life().keeps(input) {
            return Ok(None);
        }
        let when = input.retain.as_ref();
        let when = when.map(|when| self.meaning.worlds.test(when));
        let holds = when.map_or(Ok(true), |when| self.holds(&when))?;
        Ok(Some(input.retained && holds))
    }

    /// Returns true if a minted value that the builder takes has expired.
    fn is_to_be_made_anew(&self, effect: &Effect) -> Result<bool, String> {
        let minted = self.meaning.life().minted();
        for (_, mint) in minted.filter(|(value, _)| effect.from.contains(&value.name)) {
            let until = mint.until.as_ref();
            let until = until.map(|until| self.meaning.worlds.test(until));
            if until.map_or(Ok(false), |until| self.holds(&until))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns true if the author permits a write to an object that exists and may differ.
    fn is_permitted(&self, var: usize, effect: &Effect) -> Result<bool, String> {
        let stale = self.meaning.worlds.find_value("Stale");
        let before = self.known.borrow_mut()[var].replace(stale);
        let when = effect
            .when
            .as_ref()
            .map(|when| self.meaning.worlds.test(when));
        let holds = when.map_or(Ok(true), |when| self.holds(&when));
        self.known.borrow_mut()[var] = before;
        holds
    }

    fn worst(&self, input: &Input, found: &[R::Object]) -> Result<&'static str, String> {
        let mut effects = self.meaning.life().effects.iter();
        let applies = effects.find(|e| e.on == input.name && e.verb == "apply" && e.each);
        let from = applies.map(|effect| self.given(&effect.from)).transpose()?;
        if from.as_ref().map_or(Ok(false), |from| self.lacks(from))? {
            return Ok("Behind");
        }
        let built = applies
            .map(|effect| effect.name.as_str())
            .zip(from.as_ref());
        let owner = self.owner(input)?;
        let tie = Tie {
            owner: owner.as_ref(),
            retained: self.retained(input)?,
        };
        let members = self.reality.members(&input.name, built, found, tie);
        Ok(member_name(
            members.into_iter().min().unwrap_or(Member::Current),
        ))
    }
}

fn member_name(member: Member) -> &'static str {
    match member {
        Member::Behind => "Behind",
        Member::Surplus => "Surplus",
        Member::Draining => "Draining",
        Member::Foreign => "Foreign",
        Member::Current => "Current",
    }
}
