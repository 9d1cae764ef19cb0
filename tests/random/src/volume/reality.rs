//! Objects and answers at one moment, from which the oracle determines the world that one call
//! sees.

use std::cell::Cell;

use lifecycle_oracle::meaning::truth::{
    Argument, Given, LookupResult, Member, Reality, Tie, built_in_call, found_in_call,
    truth_of_call,
};
use lifecycle_oracle::meaning::{Meaning, Named};
use lifecycle_runtime::machine::ir::{Mode, Rpc, Verb};
use serde_json::json;

use super::log::Snapshot;
use super::machine::inputs_of;
use crate::author::{self, Document};
use crate::declared::{Lookup, Path};
use crate::machine::{Interpreted, text_in};
use crate::reality::{is_kept, owners, uid};

/// The objects of one moment, as one request is about them.
pub(crate) struct RequestView<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) machine: &'a Interpreted,
    pub(crate) request: Document,
    /// True if a query went to a system that does not answer.
    asks_the_silent: Cell<bool>,
}

/// A refused write: the effect, and exactly what it wrote.
pub(crate) type Refusals = Vec<(String, String)>;

/// Observation of a call.
pub(crate) struct CallObservation {
    pub(crate) world: Named,
    /// It cannot look: something does not answer.
    pub(crate) is_blind: bool,
}

impl<'a> RequestView<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, machine: &'a Interpreted, request: Document) -> Self {
        Self {
            snapshot,
            machine,
            request,
            asks_the_silent: Cell::new(false),
        }
    }

    /// Returns the observation of a call, if exactly these writes were refused during the call.
    ///
    /// # Errors
    /// Something depends on itself.
    pub(crate) fn observe(
        &self,
        meaning: &Meaning<'_>,
        rpc: Rpc,
        refused: &Refusals,
    ) -> Result<CallObservation, String> {
        let call = format!("{rpc:?}");
        let ir = self.machine.ir;
        let said = ir.effects.iter().enumerate().map(|(number, effect)| {
            let write = self.write(meaning, &call, number);
            let known =
                |(of, what): &(String, String)| of == effect.name && Some(what) == write.as_ref();
            let known = refused.iter().any(known);
            (format!("?{}", effect.name), known.to_string())
        });
        let world = truth_of_call(meaning, self, &call, &said.collect())?;
        for (number, input) in ir.inputs.iter().enumerate() {
            if matches!(input.mode, Mode::Poll | Mode::Probe) {
                let name = &self.machine.declared.inputs[number];
                drop(found_in_call(meaning, self, &call, name));
            }
        }
        Ok(CallObservation {
            world,
            is_blind: self.asks_the_silent.get(),
        })
    }

    /// Returns the exact content that an effect would write now. Its refusal is remembered by this
    /// content.
    pub(crate) fn write(&self, meaning: &Meaning<'_>, call: &str, effect: usize) -> Option<String> {
        let declared = &self.machine.ir.effects[effect];
        let input = |number: usize| self.machine.declared.inputs[number].as_str();
        let versions = |number: usize| {
            let found = found_in_call(meaning, self, call, input(number));
            let part = |object: &Document| {
                let meta = &object["metadata"];
                json!([meta["uid"], meta["resourceVersion"]])
            };
            json!(found.iter().map(part).collect::<Vec<_>>())
        };
        let target = declared.target;
        if declared.verb == Verb::Call {
            let read = inputs_of(self.machine.ir, effect).into_iter();
            return Some(json!(read.map(versions).collect::<Vec<_>>()).to_string());
        }
        let from = built_in_call(meaning, self, call, declared.name)?;
        let built = author::built(declared.name, input(target), &self.request, &from, || 0);
        let owner = self.machine.ir.inputs[target].owner.map(|owner| {
            let found = found_in_call(meaning, self, call, input(owner));
            found
                .first()
                .and_then(|owner| uid(owner).map(str::to_owned))
        });
        Some(json!([built, owner, versions(target)]).to_string())
    }

    /// Returns the contributor to objects that several may write: the volume, by its id, or by its
    /// name before it has one.
    fn volume(&self) -> &str {
        let named = |name: &str| self.request["request"][name].as_str();
        let named = |name| named(name).filter(|text| !text.is_empty());
        named("volume_id")
            .or_else(|| named("name"))
            .unwrap_or_default()
    }

    fn input_index(&self, input: &str) -> usize {
        let inputs = &self.machine.declared.inputs;
        let at = inputs.iter().position(|name| name == input);
        at.expect("the input is declared")
    }

    fn text_at(&self, path: &Path, from: &Given<Document>) -> Option<String> {
        let Some(input) = path.input else {
            return text_in(&self.request, &path.parts);
        };
        let name = &self.machine.declared.inputs[input];
        let mut from = from.iter();
        let seen = from.find(|(other, _)| other.split('.').next() == Some(name));
        match &seen?.1 {
            Argument::One(Some(document)) => text_in(document, &path.parts),
            _ => None,
        }
    }

    /// Returns the key under which the environment keeps the answer to a call's query. Returns
    /// `None` if the request lacks the field that names it.
    fn kept_under(&self, lookup: &Lookup, from: &Given<Document>) -> Option<String> {
        match lookup {
            Lookup::At(path) if path.input.is_some() => {
                Some(self.text_at(path, from).unwrap_or_default())
            }
            Lookup::At(path) => self.text_at(path, from),
            Lookup::Several(keys) => keys.iter().map(|key| self.kept_under(key, from)).collect(),
            _ => Some(String::new()),
        }
    }

    fn polled(&self, number: usize, from: &Given<Document>) -> LookupResult<Document> {
        let name = &self.machine.declared.inputs[number];
        let key = self.kept_under(&self.machine.declared.lookups[number], from);
        if key.is_some() && self.snapshot.outside.is_down(name) {
            self.asks_the_silent.set(true);
        }
        let content = |key: String| self.snapshot.outside.content(name, &key);
        LookupResult {
            named: true,
            objects: key.map(content).into_iter().collect(),
        }
    }
}

impl Reality for RequestView<'_> {
    type Object = Document;

    fn standing(&self) -> (bool, bool) {
        (false, false)
    }

    fn find(&self, input: &str, from: &Given<Document>) -> LookupResult<Document> {
        let number = self.input_index(input);
        if matches!(
            self.machine.ir.inputs[number].mode,
            Mode::Poll | Mode::Probe
        ) {
            return self.polled(number, from);
        }
        let called = match &self.machine.declared.lookups[number] {
            Lookup::Name(path) => self.text_at(path, from),
            Lookup::Ref(_) => {
                let missing = from
                    .iter()
                    .any(|(_, seen)| matches!(seen, Argument::One(None)));
                (!missing).then(|| author::reference(input))
            }
            _ => None,
        };
        let found = called
            .as_ref()
            .and_then(|name| self.snapshot.objects[number].get(name));
        LookupResult {
            named: called.is_some(),
            objects: found.cloned().into_iter().collect(),
        }
    }

    fn is_ours(&self, object: &Document, owner: Option<&Document>, _: bool) -> bool {
        let owner = owner.and_then(|owner| uid(owner));
        owners(object).any(|(of, controls)| Some(of) == owner && controls)
    }

    fn is_nobodys(&self, _: &Document, _: Option<&Document>) -> bool {
        false
    }

    fn is_tied(&self, _: &Document, _: Option<&Document>, _: bool) -> bool {
        true
    }

    fn is_leaving(&self, object: &Document) -> bool {
        object.pointer("/metadata/deletionTimestamp").is_some()
    }

    fn answer(&self, fact: &str, held: bool, answers: &[String], from: &Given<Document>) -> usize {
        author::answer(fact, held, answers, &self.request, from)
    }

    fn is_as_built(&self, effect: &str, from: &Given<Document>, object: &Document) -> bool {
        let mut effects = self.machine.ir.effects.iter();
        let declared = effects.find(|one| one.name == effect);
        let target = declared.expect("the effect is declared").target;
        let mode = self.machine.ir.inputs[target].mode;
        let target = &self.machine.declared.inputs[target];
        let wanted = author::built(effect, target, &self.request, from, || u64::MAX);
        let manager = match mode {
            Mode::Part | Mode::Shared => format!("-{}", self.volume()),
            Mode::Owned
            | Mode::Watched
            | Mode::Record
            | Mode::Noted
            | Mode::Poll
            | Mode::Probe
            | Mode::Clock
            | Mode::Group => String::new(),
        };
        object.pointer("/spec/built") == Some(&wanted) && is_kept(object, &manager)
    }

    fn members(
        &self,
        _: &str,
        _: Option<(&str, &Given<Document>)>,
        _: &[Document],
        _: Tie<'_, Document>,
    ) -> Vec<Member> {
        Vec::new()
    }
}
