//! Parser for a file of resources. It returns the documents, each with the line on which it begins.
//! Pure: bytes in, objects and complaints out.

use std::fmt::{self, Display, Formatter};

use k8s_openapi::api::core::v1::Secret;
use lifecycle_runtime::names;
use serde_json::{Map, Value};
use serde_saphyr::Spanned;
use thiserror::Error;

/// The group and version of the kinds of a site.
const SITES: &str = "skupper.io/v2alpha1";
/// Kinds that a file may ask for.
const KINDS: [(&str, &str); 10] = [
    (SITES, "Site"),
    (SITES, "Listener"),
    (SITES, "MultiKeyListener"),
    (SITES, "Connector"),
    (SITES, "Link"),
    (SITES, "AccessToken"),
    (SITES, "AccessGrant"),
    (SITES, "RouterAccess"),
    (SITES, "Certificate"),
    ("v1", "Secret"),
];
/// Kind that only the site itself makes.
const MADE: (&str, &str) = (SITES, "SecuredAccess");
/// Parts of `metadata` that belong to the author of a file; all others are assigned.
const OWN: [&str; 3] = ["name", "labels", "annotations"];

/// Key of an object: the kinds are few, so that kind and name are enough.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ObjectKey {
    /// Its kind.
    pub(super) kind: &'static str,
    /// Its name.
    pub(super) name: String,
}

impl ObjectKey {
    /// Of a Secret.
    pub(super) fn secret(name: &str) -> Self {
        Self {
            kind: "Secret",
            name: name.to_owned(),
        }
    }

    /// Returns the key of an object, if a site has the kind.
    pub(super) fn for_kind(kind: &str, name: &str) -> Option<Self> {
        let mut kinds = KINDS.iter().chain([&MADE]);
        let (_, kind) = kinds.find(|known| known.1 == kind)?;
        let name = name.to_owned();
        Some(Self { kind, name })
    }

    /// Of an AccessToken.
    pub(super) fn token(name: &str) -> Self {
        Self {
            kind: "AccessToken",
            name: name.to_owned(),
        }
    }

    /// The version of its kind.
    pub(super) fn version(&self) -> &'static str {
        let mut kinds = KINDS.iter().chain([&MADE]);
        let known = kinds.find(|(_, kind)| *kind == self.kind);
        known.map(|(version, _)| *version).unwrap_or_default()
    }

    /// The name as a part of a path.
    ///
    /// # Errors
    /// No object can have it.
    pub(super) fn in_path(&self) -> Result<String, names::Error> {
        let group = self.version().split_once('/').map(|(group, _)| group);
        names::of_object(group.unwrap_or_default(), self.kind, &self.name)
    }
}

impl Display for ObjectKey {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)
    }
}

/// A document that can be used: an object that is wanted.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Document {
    /// Key of the object.
    pub(super) key: ObjectKey,
    /// Line on which its document begins, in a file of documents.
    pub(super) line: Option<u64>,
    /// Object as it is applied.
    pub(super) object: Value,
}

/// Content of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Documents {
    /// The objects, in their order.
    pub(super) wanted: Vec<Document>,
    /// Objects with an unusable document: their known state stays.
    pub(super) kept: Vec<ObjectKey>,
    /// True if a document does not identify its object: then no object is known to be gone.
    pub(super) is_unclear: bool,
    /// Errors in documents, with their lines.
    pub(super) faults: Vec<(u64, String)>,
}

/// Error that makes a whole file unreadable.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{said}")]
pub(super) struct Unreadable {
    /// Line of the error, if it is known.
    pub(super) line: Option<u64>,
    said: String,
}

/// Reads a file of resources for a namespace.
///
/// # Errors
/// Returns an error if the text is not YAML, or not JSON if the file name requires JSON.
pub(super) fn read(text: &[u8], is_json: bool, namespace: &str) -> Result<Documents, Unreadable> {
    let documents = if is_json { json(text)? } else { yaml(text)? };
    let mut read = Documents::default();
    for (line, document) in documents {
        // A document may hold comments only.
        if document.is_null() {
            continue;
        }
        if document["kind"] == "List" {
            for item in document["items"].as_array().into_iter().flatten() {
                take(&mut read, line, item, namespace);
            }
        } else {
            take(&mut read, line, &document, namespace);
        }
    }
    Ok(read)
}

fn yaml(text: &[u8]) -> Result<Vec<(u64, Value)>, Unreadable> {
    let unreadable = |line, said: String| Unreadable {
        line,
        said: format!("is not YAML: {}", first_line(&said)),
    };
    let text = std::str::from_utf8(text).map_err(|error| unreadable(None, error.to_string()))?;
    let documents: Result<Vec<Spanned<Value>>, _> = lifecycle_runtime::yaml::all(text);
    let documents = documents.map_err(|error| {
        let line = error.location().map(|location| location.line());
        unreadable(line, error.to_string())
    })?;
    let spanned = documents.into_iter();
    Ok(spanned
        .map(|document| (document.referenced.line(), document.value))
        .collect())
}

/// One document after the other, as programs write them.
fn json(text: &[u8]) -> Result<Vec<(u64, Value)>, Unreadable> {
    let mut documents = Vec::new();
    let mut stream = serde_json::Deserializer::from_slice(text).into_iter();
    let mut line = 1 + blank_lines(text);
    while let Some(document) = stream.next() {
        let document = document.map_err(|error| Unreadable {
            line: u64::try_from(error.line()).ok(),
            said: format!("is not JSON: {error}"),
        })?;
        documents.push((line, document));
        let (read, rest) = text.split_at(stream.byte_offset().min(text.len()));
        line = 1 + lines(read) + blank_lines(rest);
    }
    Ok(documents)
}

fn lines(text: &[u8]) -> u64 {
    text.iter().map(|byte| u64::from(*byte == b'\n')).sum()
}

/// Returns the number of lines before the first content.
fn blank_lines(text: &[u8]) -> u64 {
    let said = text.iter().position(|byte| !byte.is_ascii_whitespace());
    lines(&text[..said.unwrap_or(text.len())])
}

/// Returns the version, kind and name that a document claims.
fn identity(document: &Value) -> Result<(&str, &str, &str), &'static str> {
    if !document.is_object() {
        return Err("is not an object");
    }
    let said = |value: &'_ Value| value.as_str().is_some_and(|text| !text.is_empty());
    let text = |path: &str, lacks: &'static str| {
        let found = document.pointer(path).filter(|value| said(value));
        found.and_then(Value::as_str).ok_or(lacks)
    };
    Ok((
        text("/apiVersion", "has no apiVersion")?,
        text("/kind", "has no kind")?,
        text("/metadata/name", "has no metadata.name")?,
    ))
}

fn take(read: &mut Documents, line: u64, document: &Value, namespace: &str) {
    let (version, kind, name) = match identity(document) {
        Ok(identity) => identity,
        Err(lacks) => {
            read.faults.push((line, lacks.to_owned()));
            read.is_unclear = true;
            return;
        }
    };
    let known = KINDS.iter().find(|known| known.1 == kind);
    let Some((expected, kind)) = known else {
        let said = format!(
            "{kind} {name} has no meaning outside Kubernetes, or is not supported yet: a site is made of Site, Listener, Connector, Link, AccessToken, AccessGrant, RouterAccess, Certificate and Secret"
        );
        read.faults.push((line, said));
        return;
    };
    let key = ObjectKey {
        kind,
        name: name.to_owned(),
    };
    let of = document["metadata"]["namespace"].as_str();
    let fault = if version != *expected {
        Some(format!("{key} is of {version}, and not of {expected}"))
    } else if of.is_some_and(|of| of != namespace) {
        Some(format!(
            "{key} is in another namespace than {namespace}: leave metadata.namespace out, or set --namespace"
        ))
    } else {
        None
    };
    match fault {
        Some(said) => {
            read.faults.push((line, said));
            read.kept.push(key);
        }
        None => read.wanted.push(Document {
            object: own(document, namespace),
            key,
            line: Some(line),
        }),
    }
}

/// Returns the part of a document that belongs to its author. A document may contain a status, too,
/// if its file was copied from a place that has statuses.
fn own(document: &Value, namespace: &str) -> Value {
    let mut object = document.clone();
    let metadata = object["metadata"].as_object_mut().map(std::mem::take);
    let mut metadata: Map<String, Value> = metadata.unwrap_or_default();
    metadata.retain(|field, _| OWN.contains(&field.as_str()));
    metadata.insert("namespace".to_owned(), namespace.into());
    object["metadata"] = Value::Object(metadata);
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
        if fields.get("kind").is_some_and(|kind| kind == "Site") {
            fields
                .entry("spec")
                .or_insert_with(|| Value::Object(Map::new()));
        }
    }
    object
}

/// True if an object can be read as a Secret.
pub(super) fn is_secret(object: &Value) -> bool {
    serde_json::from_value::<Secret>(object.clone()).is_ok()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests;
