//! Fixtures that authors provide, one YAML document for each kind and variant. This module knows
//! paths of objects, not their meaning.

use serde::Deserialize;
use serde_json::Value;

use super::keeper::adopts;
use lifecycle_runtime::lifecycle::{Kind, Machine};
use lifecycle_runtime::machine::ir::Mode;
use lifecycle_runtime::yaml;

/// An object that moves create, and that they put in the place of another variant of it.
#[derive(Clone, Debug)]
pub(crate) struct Fixture {
    /// `ListenerClass/balanced`.
    pub(crate) key: String,
    /// The object.
    pub(crate) object: Value,
    /// The path of all objects of its kind in its namespace.
    pub(crate) collection: String,
    /// The path of the object.
    pub(crate) path: String,
    /// True if the object exists before a run begins.
    pub(crate) given: bool,
    /// True if the object is of the kind whose lifecycle this is, or of one that runs beside it.
    pub(crate) subject: bool,
}

impl Fixture {
    /// Returns true if it is an object of a kind.
    pub(crate) fn is_of(&self, kind: &Kind) -> bool {
        let says = |pointer: &str, what: &str| text(&self.object, pointer).as_deref() == Some(what);
        says("/apiVersion", &kind.api_version()) && says("/kind", &kind.kind)
    }
}

/// Reads YAML documents. Each has a `variant` beside its object, and `given: true` if the object
/// exists from the start.
pub(crate) fn parse(yaml: &str, machine: &dyn Machine) -> Result<Vec<Fixture>, String> {
    let mut fixtures = Vec::new();
    for text in documents(yaml) {
        let object: Value =
            yaml::parse_one(&text).map_err(|e| format!("a fixture is no YAML: {e}"))?;
        fixtures.push(fixture(object, machine)?);
    }
    Ok(fixtures)
}

/// The parts between lines of three dashes.
fn documents(yaml: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    for line in yaml.lines() {
        match all.last_mut() {
            Some(last) if line.trim_end() != "---" => {
                last.push_str(line);
                last.push('\n');
            }
            Some(_) | None => all.push(String::new()),
        }
    }
    let says_something = |text: &String| {
        let mut lines = text.lines().map(str::trim);
        lines.any(|line| !line.is_empty() && !line.starts_with('#'))
    };
    all.into_iter().filter(says_something).collect()
}

fn fixture(mut object: Value, machine: &dyn Machine) -> Result<Fixture, String> {
    let kind_name = text(&object, "/kind").ok_or("a fixture has no `kind`")?;
    let name = text(&object, "/metadata/name").ok_or("a fixture has no `metadata.name`")?;
    let (kind, subject) = kind_of(&object, machine)?;
    let fields = object
        .as_object_mut()
        .ok_or("a fixture is not an object of fields")?;
    let variant = fields.remove("variant").unwrap_or(Value::Null);
    let variant = variant
        .as_str()
        .ok_or_else(|| format!("the fixture {kind_name} `{name}` has no `variant`"))?
        .to_owned();
    let given = fields.remove("given");
    let given = bool::deserialize(given.unwrap_or(Value::Bool(false)))
        .map_err(|e| format!("`given` of {kind_name}/{variant}: {e}"))?;
    if kind.namespaced && object.pointer("/metadata/namespace").is_none() {
        object["metadata"]["namespace"] = Value::from("default");
    }
    let namespace = text(&object, "/metadata/namespace");
    let collection = kind.path(namespace.as_deref());
    Ok(Fixture {
        key: format!("{kind_name}/{variant}"),
        path: format!("{collection}/{name}"),
        collection,
        object,
        given,
        subject,
    })
}

fn kind_of(object: &Value, machine: &dyn Machine) -> Result<(Kind, bool), String> {
    let api = text(object, "/apiVersion").unwrap_or_default();
    let name = text(object, "/kind").unwrap_or_default();
    let is = |kind: &Kind| kind.api_version() == api && kind.kind == name;
    let subject = machine.subject();
    if let Some(subject) = subject.filter(is) {
        return Ok((subject, true));
    }
    let inputs = 0..machine.ir().inputs.len();
    let found = inputs.filter_map(|n| machine.kind(n)).find(is);
    found
        .map(|kind| (kind, false))
        .ok_or_else(|| format!("a fixture is a {api} {name}, which the lifecycle does not observe"))
}

pub(crate) fn text(object: &Value, pointer: &str) -> Option<String> {
    object.pointer(pointer)?.as_str().map(str::to_owned)
}

/// A kind that the lifecycle writes, and how.
#[derive(Clone, Debug)]
pub(crate) struct WrittenKind {
    pub(crate) kind: Kind,
    pub(crate) mode: Mode,
    /// True if an effect adopts existing objects.
    pub(crate) adopts: bool,
    /// True if it is created once.
    pub(crate) once: bool,
}

/// The kinds of all inputs that effects write.
pub(crate) fn written_kinds(machine: &dyn Machine) -> Vec<WrittenKind> {
    let inputs = machine.ir().inputs.iter().enumerate();
    inputs
        .filter(|(_, input)| matches!(input.mode, Mode::Owned | Mode::Shared | Mode::Part))
        .filter_map(|(n, input)| {
            let kind = machine.kind(n)?;
            Some(WrittenKind {
                kind,
                mode: input.mode,
                adopts: adopts(machine.ir(), n),
                once: machine.ir().inputs[n].noted.is_some(),
            })
        })
        .collect()
}

impl WrittenKind {
    /// Returns true if a path names one object of this kind, or its subresource.
    pub(crate) fn has(&self, path: &str) -> bool {
        is_of(&self.kind, path)
    }
}

/// Returns true if a path names one object of a kind, or its subresource.
pub(crate) fn is_of(kind: &Kind, path: &str) -> bool {
    let all = kind.path(None);
    let Some((root, plural)) = split(&all) else {
        return false;
    };
    let rest = path
        .strip_prefix(root)
        .and_then(|rest| rest.strip_prefix('/'));
    let mut parts = rest.unwrap_or_default().split('/').peekable();
    if kind.namespaced && parts.peek() == Some(&"namespaces") {
        parts.next();
        parts.next();
    }
    parts.next() == Some(plural) && parts.next().is_some()
}

/// Path of the collection and name of the object.
pub(crate) fn split(path: &str) -> Option<(&str, &str)> {
    path.rsplit_once('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_what_stands_between_dashes() {
        let found = documents("# a comment\n---\na: 1\n---\n\n---\nb: 2\n");
        assert_eq!(found, ["a: 1\n", "b: 2\n"]);
    }

    #[test]
    fn a_path_tells_of_which_kind_its_object_is() {
        use k8s_openapi::api::core::v1::{Node, Service};
        let service = Kind::for_type::<Service>();
        assert!(is_of(&service, "/api/v1/namespaces/a/services/b"));
        assert!(is_of(&service, "/api/v1/namespaces/a/services/b/status"));
        assert!(!is_of(&service, "/api/v1/namespaces/a/services"));
        assert!(!is_of(&service, "/api/v1/namespaces/services"));
        assert!(!is_of(&service, "/apis/apps/v1/namespaces/a/services/b"));
        assert!(is_of(&Kind::for_type::<Node>(), "/api/v1/nodes/a"));
        assert!(!is_of(&Kind::for_type::<Node>(), "/api/v1/namespaces/a"));
    }

    #[test]
    fn a_path_is_a_collection_and_a_name() {
        let path = "/api/v1/namespaces/default/services/a";
        let (collection, name) = split(path).unwrap();
        assert_eq!(
            (collection, name),
            ("/api/v1/namespaces/default/services", "a")
        );
    }
}
