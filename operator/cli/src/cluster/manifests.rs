//! The files named on the command line: read, taken apart into documents, and applied as `kubectl apply --server-side` would.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::core::{GroupVersionKind, request};
use kube::discovery::{self, Scope};
use kube::{Client, ResourceExt};
use lifecycle_runtime::{names, yaml};
use serde_json::Value;
use thiserror::Error;

use super::print_line;

/// Field manager of `kubectl apply --server-side`, so that users can continue with the applied
/// objects.
const MANAGER: &str = "kubectl";

/// Reason why a manifest cannot be used. Each names the file, and the document if there is one.
#[derive(Debug, Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("{} cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The file is no YAML.
    #[error("{} is not YAML: {said}", path.display())]
    Yaml {
        /// The file.
        path: PathBuf,
        /// Message of the parser, in one line.
        said: String,
    },
    /// A document is no object.
    #[error("{place}: {said}")]
    Object {
        /// File and document.
        place: DocumentPlace,
        /// Missing part of the document.
        said: &'static str,
    },
    /// A kind that the cluster does not serve.
    #[error("{place}: the cluster serves no kind {kind} of {version}")]
    Kind {
        /// File and document.
        place: DocumentPlace,
        /// The kind.
        kind: String,
        /// Its group and version.
        version: String,
    },
    /// The cluster refuses it.
    #[error("{place}: {what} cannot be applied")]
    Apply {
        /// File and document.
        place: DocumentPlace,
        /// Kind and name.
        what: String,
        /// Error of the client or the API server.
        source: kube::Error,
    },
}

/// Place of a document: the file, and the position among its documents that hold anything, counted
/// from 1.
#[derive(Clone, Debug)]
pub struct DocumentPlace(Box<str>);

impl DocumentPlace {
    fn new(path: &Path, index: usize) -> Self {
        Self(format!("{}, document {}", path.display(), index + 1).into())
    }
}

impl std::fmt::Display for DocumentPlace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// One object to be applied.
#[derive(Clone, Debug)]
pub struct Manifest {
    place: DocumentPlace,
    object: DynamicObject,
    of: GroupVersionKind,
}

impl Manifest {
    /// Reads all files before the start, so that a mistake is reported at once.
    ///
    /// # Errors
    /// If a file cannot be read, or contains something other than objects.
    pub fn read_all(paths: &[PathBuf]) -> Result<Vec<Self>, Error> {
        let mut manifests = Vec::new();
        for path in paths {
            let text = fs::read_to_string(path).map_err(|source| Error::Read {
                path: path.clone(),
                source,
            })?;
            manifests.extend(Self::parse(path, &text)?);
        }
        Ok(manifests)
    }

    /// Takes a text apart; `path` names it in errors.
    ///
    /// # Errors
    /// If the text contains something other than objects.
    pub fn parse(path: &Path, text: &str) -> Result<Vec<Self>, Error> {
        parse(path, text)
    }

    /// Returns the kind of the object.
    pub fn kind(&self) -> &GroupVersionKind {
        &self.of
    }

    /// Its namespace.
    pub fn namespace(&self) -> String {
        let namespace = self.object.namespace();
        namespace.unwrap_or_else(|| "default".to_owned())
    }

    /// Its name.
    pub fn name(&self) -> String {
        self.object.name_any()
    }

    /// Returns the spec of the object.
    pub fn spec(&self) -> &Value {
        &self.object.data["spec"]
    }

    /// The manifest with another `spec`.
    #[must_use]
    pub fn with_spec(mut self, spec: Value) -> Self {
        self.object.data["spec"] = spec;
        self
    }
}

fn parse(path: &Path, text: &str) -> Result<Vec<Manifest>, Error> {
    let documents: Vec<Value> = yaml::all(text).map_err(|error| Error::Yaml {
        path: path.to_owned(),
        said: first_line(&error.to_string()),
    })?;
    let mut manifests = Vec::new();
    for (index, document) in documents.into_iter().enumerate() {
        let place = DocumentPlace::new(path, index);
        // A document may hold comments only.
        if document["kind"] == "List" {
            for item in document["items"].as_array().into_iter().flatten() {
                manifests.push(manifest(place.clone(), item.clone())?);
            }
        } else if !document.is_null() {
            manifests.push(manifest(place, document)?);
        }
    }
    Ok(manifests)
}

fn manifest(place: DocumentPlace, document: Value) -> Result<Manifest, Error> {
    let refused = |place, said| Err(Error::Object { place, said });
    let text = |field: &str| document[field].as_str().unwrap_or_default().to_owned();
    let (version, kind) = (text("apiVersion"), text("kind"));
    if !document.is_object() {
        return refused(place, "it is not an object");
    }
    if version.is_empty() {
        return refused(place, "it has no apiVersion");
    }
    if kind.is_empty() {
        return refused(place, "it has no kind");
    }
    if document["metadata"]["name"]
        .as_str()
        .unwrap_or_default()
        .is_empty()
    {
        return refused(place, "it has no metadata.name");
    }
    let (group, version) = version.rsplit_once('/').unwrap_or(("", &version));
    let of = GroupVersionKind::gvk(group, version, &kind);
    match serde_json::from_value(document) {
        Ok(object) => Ok(Manifest { place, object, of }),
        Err(_) => refused(place, "its metadata is not that of an object"),
    }
}

/// Applies all manifests in order, and prints a line for each.
///
/// # Errors
/// The cluster knows no such kind, or refuses one.
pub async fn apply(client: &Client, manifests: &[Manifest]) -> Result<(), Error> {
    for manifest in manifests {
        let applied = apply_one(client, manifest).await?;
        let (kind, name) = (&manifest.of.kind, applied.name_any());
        print_line(&format!("{} {name} applied", kind.to_lowercase()));
    }
    Ok(())
}

/// Applies a manifest that is part of this program, without any output. Workloads that would run in
/// Pods run in this process instead.
///
/// # Errors
/// It is no manifest, or the cluster refuses it.
pub async fn install(client: &Client, name: &str, text: &str) -> Result<(), Error> {
    let all = Manifest::parse(Path::new(name), text)?.into_iter();
    for manifest in all.filter(|manifest| manifest.of.group != "apps") {
        apply_one(client, &manifest).await?;
    }
    Ok(())
}

/// Applies one.
///
/// # Errors
/// The cluster knows no such kind, or refuses it.
pub async fn apply_one(client: &Client, manifest: &Manifest) -> Result<DynamicObject, Error> {
    let (place, of) = (&manifest.place, &manifest.of);
    let failed = |source| Error::Apply {
        place: place.clone(),
        what: format!("{} {}", of.kind, manifest.object.name_any()),
        source,
    };
    let found = discovery::pinned_kind(client, of).await;
    let (resource, capabilities) = match found {
        Ok(found) => found,
        Err(kube::Error::Discovery(_)) => return Err(unknown(place, of)),
        Err(kube::Error::Api(status)) if status.code == 404 => return Err(unknown(place, of)),
        Err(source) => return Err(failed(source)),
    };
    let namespace = manifest.object.namespace();
    let name = manifest.object.name_any();
    named(of, namespace.as_deref(), &name).map_err(failed)?;
    let api: Api<DynamicObject> = match capabilities.scope {
        Scope::Namespaced => Api::namespaced_with(
            client.clone(),
            namespace.as_deref().unwrap_or("default"),
            &resource,
        ),
        Scope::Cluster => Api::all_with(client.clone(), &resource),
    };
    let params = PatchParams::apply(MANAGER).validation_strict();
    api.patch(&name, &params, &Patch::Apply(&manifest.object))
        .await
        .map_err(failed)
}

/// Checks that a request about an object of this name leads only to that object.
fn named(of: &GroupVersionKind, namespace: Option<&str>, name: &str) -> kube::Result<()> {
    let invalid = |error: names::Error| {
        kube::Error::BuildRequest(request::Error::Validation(error.to_string()))
    };
    namespace
        .map(names::of_namespace)
        .transpose()
        .map_err(invalid)?;
    names::of_object(&of.group, &of.kind, name).map_err(invalid)?;
    Ok(())
}

fn unknown(place: &DocumentPlace, of: &GroupVersionKind) -> Error {
    Error::Kind {
        place: place.clone(),
        kind: of.kind.clone(),
        version: of.api_version(),
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let refused = parse(Path::new("a.yaml"), text).unwrap_err().to_string();
        assert!(refused.contains(expected), "{refused}");
        assert!(refused.starts_with("a.yaml"), "{refused}");
        assert_eq!(refused.lines().count(), 1, "{refused}");
    }

    #[test]
    fn documents_that_cannot_be_used_are_named_by_number() {
        check(
            &format!("{GOOD}---\n- 1\n"),
            "document 2: it is not an object",
        );
        check("kind: A\n", "document 1: it has no apiVersion");
        check("apiVersion: v1\n", "it has no kind");
        check("apiVersion: v1\nkind: A\n", "it has no metadata.name");
        check("a: [", "is not YAML: ");
    }

    #[test]
    fn empty_documents_are_passed_over_and_lists_opened() {
        let text = format!(
            "# only words\n---\n{GOOD}---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {{name: b}}\n"
        );
        let manifests = parse(Path::new("a.yaml"), &text).unwrap();
        let kinds: Vec<_> = manifests
            .iter()
            .map(|manifest| manifest.of.kind.as_str())
            .collect();
        assert_eq!(kinds, ["ConfigMap", "Deployment"]);
        assert_eq!(manifests[1].of.group, "apps");
        assert_eq!(manifests[1].place.to_string(), "a.yaml, document 2");
    }
}
