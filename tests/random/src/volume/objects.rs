//! Objects that volumes are about: kinds without a namespace, of any content, as an administrator sees and changes them. `Wide0` is what the first input
//! finds, `Wide1` what the second one finds, and so on.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use http::Method;
use k8s_openapi::ClusterResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use lifecycle_csi::Driver;
use lifecycle_runtime::lifecycle::{Kind, Stored};
use lifecycle_simulator::server::Server;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::author::Document;
use crate::cluster::{Cluster, name};

/// How many kinds there are.
pub const WIDE: usize = 8;

const GROUP: &str = "random.test";
/// What keeps an object from going.
const LINGERS: &str = "random.test/lingers";

/// An object of any content.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Wide<const N: usize> {
    metadata: ObjectMeta,
    #[serde(flatten)]
    content: Map<String, Value>,
}

impl<const N: usize> Resource for Wide<N> {
    type DynamicType = ();
    type Scope = ClusterResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        Cow::Owned(format!("Wide{N}"))
    }

    fn group((): &()) -> Cow<'_, str> {
        Cow::Borrowed(GROUP)
    }

    fn version((): &()) -> Cow<'_, str> {
        Cow::Borrowed("v1")
    }

    fn plural((): &()) -> Cow<'_, str> {
        Cow::Owned(format!("wide{N}s"))
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

fn kind_of<const N: usize>() -> Kind {
    Kind::of::<Wide<N>>()
}

fn document_of<const N: usize>(stored: &Stored) -> Option<Value> {
    let wide: &Wide<N> = stored.get()?;
    let mut document = wide.content.clone();
    let metadata = serde_json::to_value(&wide.metadata).ok()?;
    document.insert("metadata".to_owned(), metadata);
    Some(Value::Object(document))
}

/// How a process reads the objects of a kind.
#[derive(Clone, Copy, Debug)]
pub enum Reads {
    /// Each by one request.
    Once,
    /// From a watch that is always there.
    Watched,
    /// By a watch that begins with the first look.
    WatchedOnRead,
    /// Once for staging and the publishing after it.
    AfterStage,
}

fn read_by<const N: usize>(driver: Driver, reads: Reads) -> Driver {
    match reads {
        Reads::Once => driver,
        Reads::Watched => driver.watching::<Wide<N>>(""),
        Reads::WatchedOnRead => driver.watching_on_read::<Wide<N>>(),
        Reads::AfterStage => driver.reusing_after_stage::<Wide<N>>(),
    }
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
        ]
    };
}

const MAKE: [fn() -> Kind; WIDE] = of_each!(kind_of);
const READ: [fn(&Stored) -> Option<Value>; WIDE] = of_each!(document_of);
const DRIVE: [fn(Driver, Reads) -> Driver; WIDE] = of_each!(read_by);

/// The kind with this number.
pub fn kind(number: usize) -> Kind {
    MAKE[number]()
}

/// An object of the kind with this number, as one document.
pub fn document(number: usize, stored: &Stored) -> Option<Value> {
    READ[number](stored)
}

/// The driver, reading the kind with this number in this way.
pub fn reading(driver: Driver, number: usize, reads: Reads) -> Driver {
    DRIVE[number](driver, reads)
}

/// The number of the kind that a path is about, and the name of its object.
pub fn place_of(path: &str) -> Option<(usize, &str)> {
    let (_, rest) = path.split_once("/wide")?;
    let (number, name) = rest.split_once("s/")?;
    Some((number.parse().ok()?, name))
}

fn path(number: usize) -> String {
    format!("/apis/{GROUP}/v1/wide{number}s")
}

fn definition(number: usize) -> Value {
    let any = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("wide{number}s.{GROUP}") },
        "spec": {
            "group": GROUP,
            "scope": "Cluster",
            "names": { "kind": format!("Wide{number}"), "plural": format!("wide{number}s") },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": { "type": "object", "properties": { "spec": any } } },
            }],
        },
    })
}

/// A cluster with these kinds in it.
#[derive(Clone, Debug)]
pub struct Objects(pub Cluster);

/// All objects of each kind, by name.
pub type All = Vec<BTreeMap<String, Document>>;

impl Objects {
    /// A new one; others are copied from it.
    ///
    /// # Panics
    /// If the kinds cannot be defined.
    pub fn new() -> Self {
        let cluster = Cluster(Server::new(1));
        let all = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        for number in 0..WIDE {
            let made = cluster.ask(Method::POST, all, &definition(number));
            made.expect("a kind can be defined");
        }
        Self(cluster)
    }

    /// The same with objects of its own.
    #[must_use]
    pub fn copy(&self) -> Self {
        Self(self.0.copy())
    }

    /// The objects of the first kinds.
    pub fn all(&self, kinds: usize) -> All {
        (0..kinds).map(|number| self.of(number)).collect()
    }

    fn of(&self, number: usize) -> BTreeMap<String, Document> {
        let list = self.0.ask(Method::GET, &path(number), &Value::Null).ok();
        let items = list.as_ref().and_then(|list| list["items"].as_array());
        let one = |object: &Value| {
            let mut whole = object.clone();
            whole["kind"] = json!(format!("Wide{number}"));
            (name(object).to_owned(), Arc::new(whole))
        };
        items.into_iter().flatten().map(one).collect()
    }

    /// One object.
    pub fn get(&self, number: usize, name: &str) -> Option<Value> {
        let path = format!("{}/{name}", path(number));
        self.0.ask(Method::GET, &path, &Value::Null).ok()
    }

    /// Makes one; whether it was not there.
    pub fn create(&self, number: usize, name: &str, spec: &Value) -> bool {
        let object = json!({
            "apiVersion": "random.test/v1", "kind": format!("Wide{number}"),
            "metadata": { "name": name }, "spec": spec,
        });
        let path = format!("{}?fieldManager=somebody", path(number));
        self.0.ask(Method::POST, &path, &object).is_ok()
    }

    /// Changes one; whether it was there.
    pub fn edit(&self, number: usize, name: &str, change: impl FnOnce(&mut Value)) -> bool {
        let Some(mut object) = self.get(number, name) else {
            return false;
        };
        change(&mut object);
        let path = format!("{}/{name}?fieldManager=somebody", path(number));
        self.0.ask(Method::PUT, &path, &object).is_ok()
    }

    /// Deletes one; `held` keeps it from going.
    pub fn delete(&self, number: usize, name: &str, held: bool) -> bool {
        if held {
            self.edit(number, name, |object| {
                object["metadata"]["finalizers"] = json!([LINGERS]);
            });
        }
        let path = format!("{}/{name}", path(number));
        self.0.ask(Method::DELETE, &path, &Value::Null).is_ok()
    }

    /// Lets one go that lingers; whether it did.
    pub fn loosen(&self, number: usize, name: &str) -> bool {
        let object = self.get(number, name).unwrap_or_default();
        let lingers = object.pointer("/metadata/finalizers/0").is_some();
        lingers
            && self.edit(number, name, |object| {
                object["metadata"]["finalizers"] = json!([]);
            })
    }
}

impl Default for Objects {
    fn default() -> Self {
        Self::new()
    }
}
