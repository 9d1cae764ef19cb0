//! Code that the author of a random lifecycle would have written: answers, names and desired
//! fields. Each is a pure function of the sources that a `from` names. The machine that the driver
//! runs uses it, and so does the truth that it is compared with. They differ in their arguments.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use lifecycle_oracle::meaning::truth::{Argument, Given};
use serde_json::{Value, json};

/// An object, a record, or the answer of a poll, as one document.
pub type Document = Arc<Value>;

/// Every document behind a `from`, with the name that it came by.
fn flat<'a>(this: &'a Document, from: &'a Given<Document>) -> Vec<(&'a str, &'a Document)> {
    let mut all = Vec::new();
    for (name, seen) in from {
        match seen {
            Argument::This => all.push(("self", this)),
            Argument::One(one) => all.extend(one.iter().map(|one| (name.as_str(), one))),
            Argument::Many(many) => all.extend(many.iter().map(|one| (name.as_str(), one))),
            Argument::Value(Some(from)) => all.extend(flat(this, from)),
            Argument::Value(None) | Argument::Fact(_) => {}
        }
    }
    all
}

/// The facts behind a `from`.
fn facts(from: &Given<Document>) -> Vec<&str> {
    let mut all = Vec::new();
    for (_, seen) in from {
        match seen {
            Argument::Fact(value) => all.push(value.as_str()),
            Argument::Value(Some(from)) => all.extend(facts(from)),
            Argument::This | Argument::One(_) | Argument::Many(_) | Argument::Value(None) => {}
        }
    }
    all
}

/// Returns the number that a document gives for a question, in its specification and in its status.
pub fn points(document: &Value, question: &str) -> u64 {
    let in_part = |part: &str| {
        document
            .pointer(&format!("/{part}/answers/{question}"))
            .and_then(Value::as_u64)
    };
    let parts = ["spec", "status", MADE];
    parts.into_iter().filter_map(in_part).sum()
}

/// Path at which a minted value reports the answers that it is good for.
const MADE: &str = "spec/built";

/// Returns the numbers that a new value needs, so that the fact of each of these questions has its
/// first answer for the keeper.
pub fn good(questions: &[(&str, u64)], keeper: Option<&Document>, passed: u64) -> Value {
    let number = |(question, answers): &(&str, u64)| {
        let made = |keeper: &Document| {
            let path = format!("/{MADE}/answers/{question}");
            keeper.pointer(&path).and_then(Value::as_u64)
        };
        let others = keeper.map_or(0, |keeper| {
            points(keeper, question) - made(keeper).unwrap_or_default()
        });
        let short = answers - (others + passed) % answers;
        ((*question).to_owned(), json!(short))
    };
    questions
        .iter()
        .map(number)
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Returns true if a document is the answer of something outside Kubernetes.
fn is_outside(document: &Value) -> bool {
    document.get("outside").is_some()
}

/// Returns the answer of a fact. All given sources count. A held fact is known to the environment
/// alone, and it is unknown while the environment is silent.
pub fn answer<T: AsRef<str>>(
    fact: &str,
    held: bool,
    answers: &[T],
    this: &Document,
    from: &Given<Document>,
) -> usize {
    let all = flat(this, from);
    if counts(answers) {
        let members: Vec<bool> = all.iter().map(|(_, one)| holds(fact, one)).collect();
        return match (members.contains(&false), members.contains(&true)) {
            (false, false) => 0,
            (true, false) => 1,
            (true, true) => 2,
            (false, true) => 3,
        };
    }
    let counted: Vec<&Document> = all
        .into_iter()
        .map(|(_, document)| document)
        .filter(|document| !held || is_outside(document))
        .collect();
    let unknown = answers
        .iter()
        .position(|answer| answer.as_ref() == "Unknown");
    if let Some(unknown) = unknown.filter(|_| held && counted.is_empty()) {
        return unknown;
    }
    let sum: u64 = counted.iter().map(|document| points(document, fact)).sum();
    let answers = u64::try_from(answers.len().max(1)).expect("few answers");
    usize::try_from(sum % answers).expect("few answers")
}

/// Returns true if these are the answers of a fact that counts. Random lifecycles always give them
/// these names.
pub fn counts<T: AsRef<str>>(answers: &[T]) -> bool {
    let answers = answers.iter().map(AsRef::as_ref);
    answers.eq(["Empty", "None", "Some", "All"])
}

/// Returns true if a count includes a member.
pub fn holds(fact: &str, member: &Document) -> bool {
    points(member, fact) % 2 == 1
}

/// Returns the members that are counted.
pub fn counted(this: &Document, from: &Given<Document>) -> Vec<Document> {
    let all = flat(this, from).into_iter();
    all.map(|(_, member)| Arc::clone(member)).collect()
}

/// The documents that may change an answer.
pub fn levers(fact_is_held: bool, this: &Document, from: &Given<Document>) -> Vec<Document> {
    let counts = |document: &&Document| !fact_is_held || is_outside(document);
    flat(this, from)
        .into_iter()
        .map(|(_, document)| document)
        .filter(counts)
        .cloned()
        .collect()
}

/// The names that are looked up from something.
pub fn names(this: &Document, from: &Given<Document>) -> BTreeSet<String> {
    let listed = |(_, document): (&str, &Document)| {
        let names = document
            .pointer("/spec/names")
            .and_then(Value::as_array)
            .cloned();
        names.unwrap_or_default()
    };
    let all = flat(this, from).into_iter().flat_map(listed);
    all.filter_map(|name| name.as_str().map(str::to_owned))
        .collect()
}

/// The members that a set is to have.
pub fn members(input: &str, this: &Document, from: &Given<Document>) -> Vec<String> {
    let sum: u64 = flat(this, from)
        .into_iter()
        .map(|(_, document)| points(document, "members"))
        .sum();
    (0..1 + sum % 3)
        .map(|n| format!("{}-m{n}", dashed(input)))
        .collect()
}

/// Returns true if a group must have a member that it may lack.
pub fn wants(member: &str, this: &Document, from: &Given<Document>) -> bool {
    let all = flat(this, from);
    let sum: u64 = all.iter().map(|(_, one)| points(one, "members")).sum();
    let own = u64::try_from(member.len()).expect("a name is short");
    !(sum + own).is_multiple_of(3)
}

/// The name of the one object that an input refers to.
pub fn reference(input: &str) -> String {
    format!("r-{}", dashed(input))
}

/// A name that an object may have.
pub fn dashed(name: &str) -> String {
    name.replace('_', "-").to_lowercase()
}

/// Returns a digest of all parts of a document that a builder reads.
fn digest(document: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    let parts = ["/metadata/name", "/spec", "/status/answers", "/record"];
    for part in parts {
        document
            .pointer(part)
            .map(Value::to_string)
            .hash(&mut hasher);
    }
    hasher.finish()
}

/// Returns the content that an effect writes: a digest of all its sources. It keeps the value that
/// it minted before; `mint` makes a value that never existed.
pub fn built(
    effect: &str,
    target: &str,
    this: &Document,
    from: &Given<Document>,
    mint: impl FnOnce() -> u64,
) -> Value {
    let mut hasher = DefaultHasher::new();
    let all = flat(this, from);
    for (name, document) in all.iter().filter(|(name, _)| *name != target) {
        (name, digest(document)).hash(&mut hasher);
    }
    facts(from).hash(&mut hasher);
    let mut built = json!({ "by": effect, "of": format!("{:016x}", hasher.finish()) });
    if names_target(from, target) {
        let own = all.iter().find(|(name, _)| *name == target);
        let minted = own.and_then(|(_, document)| document.pointer("/spec/built/minted").cloned());
        built["minted"] = minted.unwrap_or_else(|| json!(mint()));
        let good = own.and_then(|(_, document)| document.pointer("/spec/built/answers"));
        if let Some(good) = good {
            built["answers"] = good.clone();
        }
    }
    built
}

/// Returns true if something is built from an earlier write.
fn names_target(from: &Given<Document>, target: &str) -> bool {
    from.iter().any(|(name, seen)| match seen {
        Argument::Value(Some(from)) => names_target(from, target),
        Argument::This
        | Argument::One(_)
        | Argument::Many(_)
        | Argument::Value(None)
        | Argument::Fact(_) => name == target,
    })
}

/// Returns the text of a record.
pub fn recorded(effect: &str, target: &str, this: &Document, from: &Given<Document>) -> String {
    let built = built(effect, target, this, from, || 0);
    let of = built["of"].as_str().unwrap_or_default();
    format!("r-{of}")
}
