//! Lifecycle without compiled code: the description as the macro prints it, with methods of
//! [`crate::author`].

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use lifecycle_oracle::meaning::truth::{Argument, Given};
use lifecycle_runtime::lifecycle::call::{calling, polling};
use lifecycle_runtime::lifecycle::count::count;
use lifecycle_runtime::lifecycle::observation::Slot;
use lifecycle_runtime::lifecycle::{
    Answer, Because, Built, CallError, Calling, Kind, LookupKey, Machine, Noted, ObjectRef,
    Observation, Once, Polling, Random, Stored, Timed,
};
use lifecycle_runtime::machine::ir::{Lifecycle, Mode, Source, Verb};
use lifecycle_runtime::machine::length::Said;
use serde_json::{Value, json};

use crate::author::{self, Document};
use crate::declared::{Declared, From, Lookup, Path};
use crate::hours;
use crate::outside::OutsideStore;
use crate::things;
use crate::volume::request;

/// Response time of a system outside Kubernetes.
const ANSWERS_AFTER: Duration = Duration::from_millis(5);

/// The machine of a random lifecycle.
#[derive(Clone, Debug)]
pub struct Interpreted {
    /// As printed.
    pub ir: &'static Lifecycle,
    /// Arguments of the methods.
    pub declared: Arc<Declared>,
    /// External systems that polls and calls reach.
    pub outside: OutsideStore,
}

/// Sources of a shared value. If it was made in this reconciliation, also the content that its
/// keeper must have.
struct Computed(Given<Document>, Option<Value>);

impl Interpreted {
    pub(crate) fn this(&self, observation: &Observation) -> Document {
        Arc::new(match observation.request() {
            Some(request) => request::document(request),
            None => things::document(0, observation.subject()).unwrap_or_default(),
        })
    }

    fn object(&self, input: usize, stored: &Stored) -> Option<Document> {
        let document = if self.ir.volume {
            things::wide_document(input, stored)
        } else {
            things::document(input + 1, stored)
        };
        document.map(Arc::new)
    }

    fn kind_of(&self, input: usize) -> Kind {
        if self.ir.volume {
            things::wide_kind(input)
        } else {
            things::kind(input + 1)
        }
    }

    /// Returns the arguments that generated code would pass to a method.
    pub(crate) fn given(&self, observation: &Observation, from: &From) -> Given<Document> {
        let seen = |source: Source| match source {
            Source::This | Source::Request => Argument::This,
            Source::Input(input) if self.ir.inputs[input].many => {
                let objects = observation.objects(input).iter();
                Argument::Many(
                    objects
                        .filter_map(|stored| self.object(input, stored))
                        .collect(),
                )
            }
            Source::Input(input) => Argument::One(self.document(observation, input)),
            Source::Value(value) => {
                let computed: Option<&Computed> = observation.value(value);
                Argument::Value(computed.map(|computed| computed.0.clone()))
            }
            Source::Fact(var) => Argument::Fact(self.ir.value(&observation.world, var).to_owned()),
        };
        from.iter()
            .map(|(name, source)| (name.clone(), seen(*source)))
            .collect()
    }

    fn document(&self, observation: &Observation, input: usize) -> Option<Document> {
        if observation.is_hidden(input) || !self.ir.usable(&observation.world, input) {
            return None;
        }
        if self.ir.inputs[input].mode == Mode::Clock {
            let now: &Timestamp = observation.one(input)?;
            return Some(Arc::new(hours::document(self.ir, *now)));
        }
        match observation.slot(input) {
            Slot::Objects(objects) => self.object(input, objects.first()?),
            Slot::Plain(answer) => answer.clone()?.downcast::<Value>().ok(),
            Slot::Recorded { value, .. } if value.is::<Noted>() => {
                Some(Arc::new(json!({ "record": value.downcast_ref::<Noted>() })))
            }
            Slot::Recorded { value, .. } => {
                let text: &String = value.downcast_ref()?;
                Some(Arc::new(json!({ "record": text })))
            }
            Slot::Closed => None,
        }
    }

    /// Returns the arguments of a builder, if all of them are available.
    pub(crate) fn complete(
        &self,
        observation: &Observation,
        effect: usize,
    ) -> Option<Given<Document>> {
        let from = self.given(observation, &self.declared.effects[effect]);
        let sources = self.declared.effects[effect].iter();
        let is_missing =
            |((_, seen), (_, source)): (&(String, Argument<Document>), &_)| match source {
                // Its builder is called without it.
                Source::Input(input) if self.ir.inputs[*input].only_if.is_some() => {
                    !self.ir.usable(&observation.world, *input)
                }
                Source::Input(_)
                | Source::This
                | Source::Request
                | Source::Value(_)
                | Source::Fact(_) => matches!(seen, Argument::One(None) | Argument::Value(None)),
            };
        (!from.iter().zip(sources).any(is_missing)).then_some(from)
    }

    /// Returns the values that were made for a builder in this reconciliation.
    fn computed_values<'a>(&self, observation: &'a Observation, effect: usize) -> Vec<&'a Value> {
        let values = self.declared.effects[effect].iter();
        let values = values.filter_map(|(_, source)| match source {
            Source::Value(value) => observation.value::<Computed>(*value),
            Source::Input(_) | Source::This | Source::Request | Source::Fact(_) => None,
        });
        values.filter_map(|computed| computed.1.as_ref()).collect()
    }

    fn text_at(&self, observation: &Observation, path: &Path) -> Option<String> {
        let document = match path.input {
            None => self.this(observation),
            Some(input) => self.document(observation, input)?,
        };
        text_in(&document, &path.parts)
    }

    /// Returns the location outside Kubernetes that holds the answer to a poll.
    pub(crate) fn outside_key(&self, observation: &Observation, input: usize) -> (String, String) {
        let key = self.kept_under(observation, &self.declared.lookups[input]);
        (self.declared.inputs[input].clone(), key)
    }

    fn kept_under(&self, observation: &Observation, lookup: &Lookup) -> String {
        match lookup {
            Lookup::At(path) if self.ir.volume => {
                self.text_at(observation, path).unwrap_or_default()
            }
            Lookup::Of(other) if self.ir.inputs[*other].mode == Mode::Record => {
                observation.identity(*other).unwrap_or_default()
            }
            Lookup::Several(keys) => keys
                .iter()
                .map(|key| self.kept_under(observation, key))
                .collect(),
            _ => String::new(),
        }
    }

    /// Returns one of several keys of a poll. A request that lacks a field yields no query.
    fn one_key(&self, observation: &Observation, key: &Lookup) -> Option<Option<String>> {
        match key {
            Lookup::Of(other) => Some(observation.identity(*other)),
            Lookup::At(path) => {
                let text = self.text_at(observation, path);
                (text.is_some() || !self.ir.volume || path.input.is_some()).then_some(text)
            }
            _ => None,
        }
    }

    /// Performs the operation of a call. Returns the position of the alternative that resulted.
    fn run(
        &self,
        (input, key): (String, String),
        (effect, now): (usize, Option<Timestamp>),
    ) -> Result<usize, CallError> {
        let declared = &self.ir.effects[effect];
        let mut outside = self.outside.state();
        if outside.refused.contains(declared.name) {
            return Err(CallError::Refused(format!(
                "`{}` is refused",
                declared.name
            )));
        }
        if outside.is_down(&input) {
            return Err(CallError::Failed("it does not answer".to_owned()));
        }
        let of_provider = self.ir.inputs[declared.target].provider.is_some();
        if let Some(later) = of_provider.then(|| outside.later()).flatten() {
            return Err(later);
        }
        let alternative = outside.turn % declared.sets.len().max(1);
        outside.turn += 1;
        outside.calls += 1;
        for (var, value) in declared
            .sets
            .get(alternative)
            .into_iter()
            .copied()
            .flatten()
        {
            let var = &self.ir.vars[*var];
            // A renewed value is renewed for the current time.
            let passed = now.filter(|_| var.timed).map_or(0, hours::points);
            let answers = u64::from(var.answers);
            let points = u64::from(*value) + answers - passed % answers;
            outside.set((&input, &key), var.name, points);
        }
        Ok(alternative)
    }
}

/// Returns the duration that a document specifies; `None` if it is missing or empty.
pub fn said_in(document: &Value, parts: &[String]) -> Option<Said> {
    let value = parts.iter().try_fold(document, |at, part| at.get(part))?;
    match value {
        Value::String(text) => (!text.is_empty()).then(|| Said::Text(text.clone())),
        value => value.as_i64().map(Said::Seconds),
    }
}

/// The parts of a path in a description.
pub(crate) fn parts_of(path: &str) -> Vec<String> {
    path.split('.').map(str::to_owned).collect()
}

/// A text of a document; `None` where it is missing or empty.
pub fn text_in(document: &Value, parts: &[String]) -> Option<String> {
    let text = document
        .pointer(&format!("/{}", parts.join("/")))?
        .as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

impl Machine for Interpreted {
    fn ir(&self) -> &'static Lifecycle {
        self.ir
    }

    fn subject(&self) -> Option<Kind> {
        (!self.ir.volume).then(|| things::kind(0))
    }

    fn kind(&self, input: usize) -> Option<Kind> {
        let mode = self.ir.inputs[input].mode;
        mode.is_object().then(|| self.kind_of(input))
    }

    fn lookup(&self, observation: &Observation, input: usize) -> Option<LookupKey> {
        let key = |text: Option<String>, known: fn(String) -> LookupKey| {
            text.map_or(LookupKey::Nothing, known)
        };
        Some(match &self.declared.lookups[input] {
            Lookup::Name(path) => key(self.text_at(observation, path), LookupKey::Name),
            Lookup::Labels(pairs) => {
                let texts = pairs
                    .iter()
                    .map(|(_, path)| self.text_at(observation, path));
                let texts: Option<Vec<String>> = texts.collect();
                texts.map_or(LookupKey::Nothing, LookupKey::Labels)
            }
            Lookup::Names(from) => {
                let from = self.given(observation, from);
                LookupKey::Names(author::names(&self.this(observation), &from))
            }
            Lookup::Refs(from) => {
                let from = self.given(observation, from);
                let names = author::names(&self.this(observation), &from).into_iter();
                let object = |name| ObjectRef {
                    kind: self.kind_of(input).kind,
                    namespace: Some("default".to_owned()),
                    name,
                    label: None,
                };
                LookupKey::Refs(names.map(object).collect())
            }
            Lookup::Ref(from) => {
                let from = self.given(observation, from);
                let missing = from
                    .iter()
                    .any(|(_, seen)| matches!(seen, Argument::One(None)));
                let name = author::reference(&self.declared.inputs[input]);
                let kind = self.kind_of(input).kind;
                let object = ObjectRef {
                    kind,
                    namespace: None,
                    name,
                    label: None,
                };
                if missing {
                    LookupKey::Nothing
                } else {
                    LookupKey::Ref(object)
                }
            }
            Lookup::Equal(_, ours) => key(self.text_at(observation, ours), LookupKey::Equal),
            Lookup::Of(other) => LookupKey::Key(observation.identity(*other).unwrap_or_default()),
            Lookup::At(path) if path.input.is_some() => {
                LookupKey::Key(self.text_at(observation, path).unwrap_or_default())
            }
            Lookup::At(path) => key(self.text_at(observation, path), LookupKey::Key),
            Lookup::Several(keys) => {
                let keys = keys.iter().map(|key| self.one_key(observation, key));
                let keys: Option<Vec<Option<String>>> = keys.collect();
                keys.map_or(LookupKey::Nothing, |keys| {
                    LookupKey::Key(json!(keys).to_string())
                })
            }
            Lookup::Owner | Lookup::All => LookupKey::All,
        })
    }

    fn wants(&self, observation: &Observation, input: usize) -> Option<bool> {
        let path = parts_of(self.ir.inputs[input].only_if?);
        Some(text_in(&self.this(observation), &path).is_some())
    }

    fn recall(&self, _: usize, recorded: &Value) -> Option<Arc<dyn Any + Send + Sync>> {
        let text = recorded.as_str()?.to_owned();
        Some(Arc::new(text))
    }

    fn theirs(&self, input: usize, object: &Stored) -> Option<String> {
        match &self.declared.lookups[input] {
            Lookup::Equal(theirs, _) => text_in(&*self.object(input, object)?, theirs),
            _ => None,
        }
    }

    fn value(&self, observation: &Observation, value: usize) -> Option<Arc<dyn Any + Send + Sync>> {
        let from = self.given(observation, &self.declared.values[value]);
        if let Some(mint) = &self.ir.values[value].mint {
            let kept = self.document(observation, mint.keeper)?;
            kept.pointer("/spec/built/minted")?;
        }
        Some(Arc::new(Computed(from, None)))
    }

    fn make(
        &self,
        observation: &Observation,
        value: usize,
        random: &mut Random,
    ) -> Option<Arc<dyn Any + Send + Sync>> {
        let mint = self.ir.values[value].mint.as_ref()?;
        let from = self.given(observation, &self.declared.values[value]);
        let missing =
            |seen: &Argument<Document>| matches!(seen, Argument::One(None) | Argument::Value(None));
        if from[1..].iter().any(|(_, seen)| missing(seen)) {
            return None;
        }
        let clock = self.ir.inputs.iter().position(|i| i.mode == Mode::Clock);
        let now = clock.and_then(|clock| observation.one::<Timestamp>(clock).copied());
        let vars = self.ir.vars.iter().enumerate();
        let asked = vars.filter(|(at, _)| mint.until.as_ref().is_some_and(|u| u.mentions(*at)));
        let timed = asked.clone().any(|(_, var)| var.timed);
        let questions: Vec<_> = asked
            .map(|(_, var)| (var.name, u64::from(var.answers)))
            .collect();
        let passed = now.filter(|_| timed).map_or(0, hours::points);
        let keeper = self.document(observation, mint.keeper);
        let good = author::good(&questions, keeper.as_ref(), passed);
        let made = json!({ "minted": random.below(1 << 52), "answers": good });
        Some(Arc::new(Computed(from, Some(made))))
    }

    fn fact(&self, observation: &Observation, var: usize) -> Option<Answer> {
        let from = self.given(observation, self.declared.facts[var].as_ref()?);
        let declared = &self.ir.vars[var];
        let answers = &declared.values[..usize::from(declared.answers)];
        let (held, this) = (declared.free.is_some(), self.this(observation));
        if author::counts(answers) {
            // As generated code answers it, and not as the truth does.
            let members = author::counted(&this, &from);
            let holds = |member: &Document| Because::plain(author::holds(declared.name, member));
            return Some(count(&members, holds));
        }
        let answer = author::answer(declared.name, held, answers, &this, &from);
        Some(Because::plain(u8::try_from(answer).ok()?))
    }

    fn timed(&self, observation: &Observation, var: usize) -> Option<Timed<u8>> {
        let clock = self.ir.inputs.iter().position(|i| i.mode == Mode::Clock)?;
        let now: &Timestamp = observation.one(clock)?;
        Some(self.fact(observation, var)?.until(hours::next(*now)))
    }

    fn build(&self, observation: &Observation, effect: usize) -> Option<Built> {
        let from = self.complete(observation, effect)?;
        let declared = &self.ir.effects[effect];
        let (this, target) = (
            self.this(observation),
            &self.declared.inputs[declared.target],
        );
        if self.ir.inputs[declared.target].mode == Mode::Record {
            let recorded = author::recorded(declared.name, target, &this, &from);
            return Some(Built::One(json!(recorded)));
        }
        if self.ir.inputs[declared.target].mode == Mode::Group {
            let members = self.ir.members(declared.target).map(|member| {
                let (name, is_optional) = (
                    &self.declared.inputs[member],
                    self.ir.inputs[member].optional,
                );
                let wanted = !is_optional || author::wants(name, &this, &from);
                let built = || author::built(declared.name, name, &this, &from, || u64::MAX);
                let lookup = &self.declared.lookups[member];
                let name = match lookup {
                    Lookup::Name(path) => self.text_at(observation, path),
                    _ => Some(author::reference(name)),
                };
                wanted
                    .then(|| json!({ "metadata": { "name": name }, "spec": { "built": built() } }))
            });
            return Some(Built::Group(members.collect()));
        }
        let mut built = author::built(declared.name, target, &this, &from, || self.outside.mint());
        for made in self.computed_values(observation, effect) {
            let made = made.as_object().into_iter().flatten();
            made.for_each(|(key, value)| built[key] = value.clone());
        }
        let labels = match &self.declared.lookups[declared.target] {
            Lookup::Labels(pairs) => {
                let texts = pairs
                    .iter()
                    .map(|(key, path)| (key.clone(), json!(self.text_at(observation, path))));
                json!(texts.collect::<serde_json::Map<_, _>>())
            }
            _ => json!({}),
        };
        let object = |meta: Value| json!({ "metadata": meta, "spec": { "built": built } });
        if declared.each {
            let names = author::members(target, &this, &from).into_iter();
            let all = names.map(|name| object(json!({ "name": name, "labels": labels })));
            return Some(Built::Each(all.collect()));
        }
        Some(Built::One(object(json!({ "labels": labels }))))
    }

    fn field(&self, observation: &Observation, field: usize) -> Option<Value> {
        let from = self.given(observation, &self.declared.fields[field]);
        let missing =
            |seen: &Argument<Document>| matches!(seen, Argument::One(None) | Argument::Value(None));
        let complete = !from.iter().any(|(_, seen)| missing(seen));
        complete.then(|| {
            json!(author::recorded(
                "field",
                "",
                &self.this(observation),
                &from
            ))
        })
    }

    fn text(&self, observation: &Observation, text: usize) -> Option<String> {
        text_in(&self.this(observation), &parts_of(self.ir.texts[text]))
    }

    fn time(&self, observation: &Observation, time: usize) -> Option<Said> {
        said_in(&self.this(observation), &parts_of(self.ir.times[time]))
    }

    fn poll<'a>(&'a self, observation: &'a Observation, input: usize) -> Option<Polling<'a>> {
        let of_provider = self.ir.inputs[input].provider.is_some();
        let (input, key) = self.outside_key(observation, input);
        Some(polling(async move {
            tokio::time::sleep(ANSWERS_AFTER).await;
            let mut outside = self.outside.state();
            outside.asked = Some(tokio::time::Instant::now());
            *outside.questions.entry(input.clone()).or_default() += 1;
            if outside.is_down(&input) {
                return Err(CallError::Failed("it does not answer".to_owned()));
            }
            if let Some(later) = of_provider.then(|| outside.later()).flatten() {
                return Err(later);
            }
            Ok((*outside.content(&input, &key)).clone())
        }))
    }

    fn key(&self, observation: &Observation, effect: usize) -> Option<String> {
        match self.declared.keys[effect].as_ref()? {
            (Some(input), path) if path.parts.is_empty() => observation.identity(*input),
            (_, path) => self.text_at(observation, path),
        }
    }

    fn call<'a>(
        &'a self,
        observation: &'a Observation,
        effect: usize,
        once: Once<'a>,
    ) -> Option<Calling<'a>> {
        debug_assert_eq!(self.ir.effects[effect].verb, Verb::Call);
        self.complete(observation, effect)?;
        let place = self.outside_key(observation, self.ir.effects[effect].target);
        let clock = self.ir.inputs.iter().position(|i| i.mode == Mode::Clock);
        let now = clock.and_then(|clock| observation.one::<Timestamp>(clock).copied());
        let mutation = async move {
            tokio::time::sleep(ANSWERS_AFTER).await;
            self.run(place, (effect, now))
        };
        Some(calling(once.spend(mutation), |alternative| *alternative))
    }
}
