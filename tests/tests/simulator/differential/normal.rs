//! Normalization of everything that may differ between two servers: uids, versions, times,
//! addresses, and unspecified orders.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use super::end::{Answer, Transcript};
use super::plan::Sequence;

/// First difference of two transcripts.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    /// The step, or the check after the last one.
    pub(crate) place: String,
    /// The path of the first value that differs.
    pub(crate) path: String,
    pub(crate) real: Value,
    pub(crate) simulated: Value,
    /// The steps before and at the place.
    pub(crate) sequence: String,
    codes: (u16, u16),
    /// The values at the path.
    pub(crate) values: (Value, Value),
}

impl Difference {
    /// Returns true if the difference shows in an answer about a kind.
    pub(crate) fn is_about(&self, kind: &str) -> bool {
        self.place.split_whitespace().nth(1) == Some(kind)
    }

    /// Returns the common key of such differences.
    pub(crate) fn kind(&self) -> String {
        let place = self.place.split('{').next().unwrap_or_default();
        let place: Vec<&str> = place.split_whitespace().take(3).collect();
        let path: String = self.path.chars().filter(|c| !c.is_ascii_digit()).collect();
        let (real, simulated) = self.codes;
        format!("{} {real}/{simulated} {path}", place.join(" "))
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (real, simulated) = self.codes;
        writeln!(formatter, "at {}, {}:", self.place, self.path)?;
        writeln!(formatter, "  real      {real} {}", short(&self.values.0))?;
        writeln!(
            formatter,
            "  simulated {simulated} {}",
            short(&self.values.1)
        )?;
        if self.codes.0 != self.codes.1 {
            writeln!(formatter, "  real, all      {}", short(&self.real))?;
            writeln!(formatter, "  simulated, all {}", short(&self.simulated))?;
        }
        Ok(())
    }
}

pub(crate) fn short(value: &Value) -> String {
    const MOST: usize = 700;
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text,
    }
}

/// The first difference of two transcripts.
pub(crate) fn difference(
    sequence: &Sequence,
    real: Transcript,
    simulated: Transcript,
) -> Option<Difference> {
    let (real, simulated) = (normal(real), normal(simulated));
    let steps = sequence.steps.iter().map(ToString::to_string);
    let ends = super::kinds::Kind::ALL
        .iter()
        .map(|kind| format!("left {kind:?}"));
    let places = steps
        .chain(ends)
        .chain([format!("events {:?}", sequence.watched)]);
    let pairs = real.into_iter().zip(simulated);
    for (place, (real, simulated)) in places.zip(pairs) {
        let Some((path, values)) = first(&real.body, &simulated.body, String::new()) else {
            if real.code == simulated.code {
                continue;
            }
            let values = (Value::Null, Value::Null);
            return Some(found(
                sequence,
                place,
                "code".to_owned(),
                (real, simulated),
                values,
            ));
        };
        return Some(found(sequence, place, path, (real, simulated), values));
    }
    None
}

fn found(
    sequence: &Sequence,
    place: String,
    path: String,
    (real, simulated): (Answer, Answer),
    values: (Value, Value),
) -> Difference {
    Difference {
        place,
        path,
        sequence: sequence.to_string(),
        codes: (real.code, simulated.code),
        real: real.body,
        simulated: simulated.body,
        values,
    }
}

fn first(real: &Value, simulated: &Value, path: String) -> Option<(String, (Value, Value))> {
    match (real, simulated) {
        (Value::Object(left), Value::Object(right)) => {
            let names: std::collections::BTreeSet<&String> =
                left.keys().chain(right.keys()).collect();
            names.into_iter().find_map(|name| {
                let path = format!("{path}/{name}");
                match (left.get(name), right.get(name)) {
                    (Some(left), Some(right)) => first(left, right, path),
                    (left, right) => {
                        let absent = || Value::from("(absent)");
                        let values = (
                            left.cloned().unwrap_or_else(absent),
                            right.cloned().unwrap_or_else(absent),
                        );
                        Some((path, values))
                    }
                }
            })
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let mut pairs = left.iter().zip(right).enumerate();
            pairs.find_map(|(index, (left, right))| first(left, right, format!("{path}/{index}")))
        }
        (left, right) if left == right => None,
        (left, right) => Some((path, (left.clone(), right.clone()))),
    }
}

/// Names for values that servers generate, in the order in which they were seen.
#[derive(Default)]
struct Names {
    uids: BTreeMap<String, String>,
    versions: BTreeMap<u64, usize>,
    addresses: BTreeMap<String, String>,
    ports: BTreeMap<u64, String>,
}

pub(crate) fn normal(transcript: Transcript) -> Vec<Answer> {
    let mut all = transcript.answers;
    for list in transcript.left {
        all.push(list);
    }
    all.push(Answer {
        code: 200,
        body: Value::Array(transcript.events),
    });
    let mut names = Names::default();
    for answer in &all {
        names.collect(&answer.body);
    }
    let ranked: Vec<u64> = names.versions.keys().copied().collect();
    for (rank, version) in ranked.into_iter().enumerate() {
        names.versions.insert(version, rank);
    }
    for answer in &mut all {
        names.rename(&mut answer.body);
        if answer.body.get("kind").is_some_and(|kind| kind == "Status") {
            without_go(&mut answer.body);
            unordered(&mut answer.body);
        }
    }
    all
}

impl Names {
    fn collect(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                let is_list = fields.contains_key("items");
                for (name, value) in fields {
                    match (name.as_str(), value) {
                        ("uid", Value::String(uid)) => {
                            let next = format!("uid{}", self.uids.len());
                            self.uids.entry(uid.clone()).or_insert(next);
                        }
                        // The version of a list depends on the load of the server.
                        ("metadata", _) if is_list => {}
                        ("resourceVersion", Value::String(version)) => {
                            if let Ok(version) = version.parse() {
                                self.versions.insert(version, 0);
                            }
                        }
                        ("clusterIP", Value::String(address)) if address.contains('.') => {
                            let next = format!("address{}", self.addresses.len());
                            self.addresses.entry(address.clone()).or_insert(next);
                        }
                        ("nodePort" | "healthCheckNodePort", Value::Number(port)) => {
                            let next = format!("port{}", self.ports.len());
                            self.ports
                                .entry(port.as_u64().unwrap_or_default())
                                .or_insert(next);
                        }
                        (_, value) => self.collect(value),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn rename(&self, value: &mut Value) {
        match value {
            Value::Object(fields) => self.rename_fields(fields),
            Value::Array(items) => items.iter_mut().for_each(|item| self.rename(item)),
            Value::String(text) => *text = self.text(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn rename_fields(&self, fields: &mut Map<String, Value>) {
        let is_list = fields.contains_key("items");
        for (name, value) in fields.iter_mut() {
            match (name.as_str(), &mut *value) {
                ("metadata", Value::Object(metadata)) if is_list => {
                    metadata.remove("resourceVersion");
                    // The content of a continue token is internal to the server.
                    if metadata.get("continue").is_some_and(|token| token != "") {
                        metadata.insert("continue".to_owned(), "(token)".into());
                    }
                }
                ("resourceVersion", Value::String(version)) => {
                    let rank = version
                        .parse()
                        .ok()
                        .and_then(|version: u64| self.versions.get(&version));
                    *value = rank.map_or(Value::Null, |rank| format!("version{rank}").into());
                }
                ("nodePort" | "healthCheckNodePort", Value::Number(port)) => {
                    let name = port.as_u64().and_then(|port| self.ports.get(&port));
                    *value = name.map_or(Value::Null, |name| name.as_str().into());
                }
                ("managedFields", Value::Array(entries)) => {
                    for entry in entries.iter_mut() {
                        if let Some(time) = entry.get_mut("time") {
                            *time = "(time)".into();
                        }
                        self.rename(entry);
                    }
                    // Entries are ordered by their times, in seconds.
                    entries.sort_by_key(|entry| {
                        ["operation", "manager", "apiVersion", "subresource"]
                            .map(|name| entry[name].as_str().unwrap_or_default().to_owned())
                    });
                }
                (_, value) => self.rename(value),
            }
        }
    }

    fn text(&self, text: &str) -> String {
        if text.parse::<jiff::Timestamp>().is_ok() {
            return "(time)".to_owned();
        }
        if let Some(name) = self.addresses.get(text) {
            return name.clone();
        }
        // The real server shows how the Go values of a Pod's spec differ.
        let mut out = text.split("\n@@").next().unwrap_or_default().to_owned();
        for (uid, name) in &self.uids {
            out = out.replace(uid.as_str(), name);
        }
        let words: Vec<String> = out
            .split(' ')
            .map(|word| {
                let bare = word.trim_end_matches([':', ',', ')', ']']);
                let is_time = bare.len() == 20 && bare.parse::<jiff::Timestamp>().is_ok();
                if is_time {
                    word.replace(bare, "(time)")
                } else {
                    word.to_owned()
                }
            })
            .collect();
        let text = words.join(" ");
        // Messages about a precondition name versions.
        match text.split_once("the ResourceVersion in the precondition") {
            Some((before, _)) => format!("{before}the ResourceVersion in the precondition ..."),
            None => text,
        }
    }
}

/// Removes messages that only Go can print. Go shows the whole patch if the patch's outcome is not
/// of the kind. Of several faults of an apply, map order decides which one is found before the
/// first unknown field.
fn without_go(status: &mut Value) {
    const TYPED: &str = "failed to create typed patch object";
    const UNKNOWN: &str = ": field not declared in schema";
    let causes = status
        .pointer_mut("/details/causes")
        .and_then(Value::as_array_mut);
    let cause = causes.and_then(|causes| causes.iter_mut().find(|cause| cause["field"] == "patch"));
    if let Some(cause) = cause {
        cause["message"] = "(as Go prints it)".into();
        status["message"] = "(as Go prints it)".into();
    }
    let message = status["message"].as_str().unwrap_or_default();
    if message.starts_with(TYPED) && message.contains(UNKNOWN) {
        status["message"] = format!("{TYPED}{UNKNOWN}").into();
    }
}

/// Causes come in the order of a Go map, and so do the parts of their message.
fn unordered(status: &mut Value) {
    if let Some(message) = status.get("message").and_then(Value::as_str) {
        let mut parts: Vec<&str> = message
            .split(['\n', ',', '[', ']'])
            .map(str::trim)
            .collect();
        parts.retain(|part| !part.is_empty());
        parts.sort_unstable();
        status["message"] = parts.join("|").into();
    }
    if let Some(causes) = status
        .pointer_mut("/details/causes")
        .and_then(Value::as_array_mut)
    {
        causes.sort_by_key(ToString::to_string);
        // The real server runs some checks of the metadata two or three times in one request.
        causes.dedup();
    }
}
