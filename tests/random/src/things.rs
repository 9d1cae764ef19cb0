//! Kinds for lifecycles without hand-written types, in two families. `Thing0` is the object of a
//! resource itself, `Thing1` the object that its first input finds, and so on. They are namespaced
//! and have a status. `Wide0` is the object that the first input of a volume finds; this family is
//! cluster-scoped.

use std::borrow::Cow;
use std::marker::PhantomData;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::Resource;
use lifecycle_runtime::lifecycle::{Kind, Stored};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// How many kinds of `Thing` there are.
pub const KINDS: usize = 24;
/// How many kinds of `Wide` there are.
pub const WIDE: usize = 8;

/// The group of all kinds.
const GROUP: &str = "random.test";

/// Common properties of the kinds of a family.
pub trait Family: Send + Sync + 'static {
    /// Scope of their objects.
    type Scope: 'static;
    /// Common prefix of all their names.
    const NAME: &'static str;
    /// Scope of their objects, in a definition.
    const SCOPE: &'static str;
    /// Location of their objects, in a path.
    const WITHIN: &'static str;
    /// True if their status is written separately.
    const HAS_STATUS: bool;
}

/// The kinds of resources.
#[derive(Debug)]
pub struct Thing;

impl Family for Thing {
    type Scope = NamespaceResourceScope;
    const NAME: &'static str = "Thing";
    const SCOPE: &'static str = "Namespaced";
    const WITHIN: &'static str = "namespaces/default/";
    const HAS_STATUS: bool = true;
}

/// The kinds of volumes.
#[derive(Debug)]
pub struct Wide;

impl Family for Wide {
    type Scope = ClusterResourceScope;
    const NAME: &'static str = "Wide";
    const SCOPE: &'static str = "Cluster";
    const WITHIN: &'static str = "";
    const HAS_STATUS: bool = false;
}

/// An object of any content.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Object<F, const N: usize> {
    metadata: ObjectMeta,
    #[serde(flatten)]
    content: Map<String, Value>,
    #[serde(skip)]
    family: PhantomData<F>,
}

impl<F: Family, const N: usize> Resource for Object<F, N> {
    type DynamicType = ();
    type Scope = F::Scope;

    fn kind((): &()) -> Cow<'_, str> {
        Cow::Owned(kind_name::<F>(N))
    }

    fn group((): &()) -> Cow<'_, str> {
        Cow::Borrowed(GROUP)
    }

    fn version((): &()) -> Cow<'_, str> {
        Cow::Borrowed("v1")
    }

    fn plural((): &()) -> Cow<'_, str> {
        Cow::Owned(plural::<F>(N))
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

fn kind_name<F: Family>(number: usize) -> String {
    format!("{}{number}", F::NAME)
}

fn plural<F: Family>(number: usize) -> String {
    format!("{}{number}s", F::NAME.to_lowercase())
}

fn kind_of<F: Family, const N: usize>() -> Kind {
    Kind::for_type::<Object<F, N>>()
}

/// The object again as one document.
fn document_of<F: Family, const N: usize>(stored: &Stored) -> Option<Value> {
    let object: &Object<F, N> = stored.get()?;
    let mut document = object.content.clone();
    let metadata = serde_json::to_value(&object.metadata).ok()?;
    document.insert("metadata".to_owned(), metadata);
    Some(Value::Object(document))
}

/// A function for each kind of a family.
macro_rules! of_each {
    ($function:ident, $family:ty: $($number:literal)+) => {
        [$($function::<$family, $number>),+]
    };
}
pub(crate) use of_each;

const MAKE: [fn() -> Kind; KINDS] =
    of_each!(kind_of, Thing: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23);
const READ: [fn(&Stored) -> Option<Value>; KINDS] =
    of_each!(document_of, Thing: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23);
const MAKE_WIDE: [fn() -> Kind; WIDE] = of_each!(kind_of, Wide: 0 1 2 3 4 5 6 7);
const READ_WIDE: [fn(&Stored) -> Option<Value>; WIDE] =
    of_each!(document_of, Wide: 0 1 2 3 4 5 6 7);

/// The `Thing` with this number.
pub fn kind(number: usize) -> Kind {
    MAKE[number]()
}

/// An object of the `Thing` with this number, as one document.
pub fn document(number: usize, stored: &Stored) -> Option<Value> {
    READ[number](stored)
}

/// The `Wide` with this number.
pub fn wide_kind(number: usize) -> Kind {
    MAKE_WIDE[number]()
}

/// An object of the `Wide` with this number, as one document.
pub fn wide_document(number: usize, stored: &Stored) -> Option<Value> {
    READ_WIDE[number](stored)
}

/// Returns the path of all objects of a kind, in the namespace `default` if the kind is namespaced.
pub fn path<F: Family>(number: usize) -> String {
    format!("/apis/{GROUP}/v1/{}{}", F::WITHIN, plural::<F>(number))
}

/// The definition of a kind: any content, and a status of its own where the family has one.
pub fn definition<F: Family>(number: usize) -> Value {
    let any = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let mut version = json!({
        "name": "v1", "served": true, "storage": true,
        "schema": { "openAPIV3Schema": { "type": "object", "properties": { "spec": any } } },
    });
    if F::HAS_STATUS {
        version["subresources"] = json!({ "status": {} });
        version["schema"]["openAPIV3Schema"]["properties"]["status"] = any;
    }
    let plural = plural::<F>(number);
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{plural}.{GROUP}") },
        "spec": {
            "group": GROUP,
            "scope": F::SCOPE,
            "names": { "kind": kind_name::<F>(number), "plural": plural },
            "versions": [version],
        },
    })
}
