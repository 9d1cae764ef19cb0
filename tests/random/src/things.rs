//! Kinds for lifecycles that nobody wrote a type for: `Thing0` is the object itself, `Thing1` what its first input finds, and so on.

use std::borrow::Cow;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use lifecycle_runtime::lifecycle::{Kind, Stored};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// How many kinds there are.
pub const KINDS: usize = 24;

/// The group of all kinds.
const GROUP: &str = "random.test";

/// An object of any content.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Thing<const N: usize> {
    metadata: ObjectMeta,
    #[serde(flatten)]
    content: Map<String, Value>,
}

impl<const N: usize> Resource for Thing<N> {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        Cow::Owned(format!("Thing{N}"))
    }

    fn group((): &()) -> Cow<'_, str> {
        Cow::Borrowed(GROUP)
    }

    fn version((): &()) -> Cow<'_, str> {
        Cow::Borrowed("v1")
    }

    fn plural((): &()) -> Cow<'_, str> {
        Cow::Owned(format!("thing{N}s"))
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

fn kind_of<const N: usize>() -> Kind {
    Kind::of::<Thing<N>>()
}

/// The object again as one document.
fn document_of<const N: usize>(stored: &Stored) -> Option<Value> {
    let thing: &Thing<N> = stored.get()?;
    let mut document = thing.content.clone();
    document.insert(
        "metadata".to_owned(),
        serde_json::to_value(&thing.metadata).ok()?,
    );
    Some(Value::Object(document))
}

macro_rules! of_each {
    ($function:ident) => {
        [
            $function::<0>,
            $function::<1>,
            $function::<2>,
            $function::<3>,
            $function::<4>,
            $function::<5>,
            $function::<6>,
            $function::<7>,
            $function::<8>,
            $function::<9>,
            $function::<10>,
            $function::<11>,
            $function::<12>,
            $function::<13>,
            $function::<14>,
            $function::<15>,
            $function::<16>,
            $function::<17>,
            $function::<18>,
            $function::<19>,
            $function::<20>,
            $function::<21>,
            $function::<22>,
            $function::<23>,
        ]
    };
}

const MAKE: [fn() -> Kind; KINDS] = of_each!(kind_of);
const READ: [fn(&Stored) -> Option<Value>; KINDS] = of_each!(document_of);

/// The kind with this number.
pub fn kind(number: usize) -> Kind {
    MAKE[number]()
}

/// An object of the kind with this number, as one document.
pub fn document(number: usize, stored: &Stored) -> Option<Value> {
    READ[number](stored)
}

/// The path of all objects of a kind in the namespace `default`.
pub fn path(number: usize) -> String {
    format!("/apis/{GROUP}/v1/namespaces/default/thing{number}s")
}

/// The definition of a kind: any content, and a status of its own.
pub fn definition(number: usize) -> Value {
    let any = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("thing{number}s.{GROUP}") },
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": { "kind": format!("Thing{number}"), "plural": format!("thing{number}s") },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "subresources": { "status": {} },
                "schema": { "openAPIV3Schema": { "type": "object", "properties": { "spec": any, "status": any } } },
            }],
        },
    })
}
