//! Objects that volumes depend on, as an administrator sees and changes them. `Wide0` is the object
//! that the first input finds, `Wide1` the one of the second input, and so on.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::Method;
use lifecycle_csi::Driver;
use lifecycle_simulator::server::Server;
use serde_json::{Value, json};

use crate::author::Document;
use crate::cluster::{Cluster, name};
use crate::things::{self, Family, Object, WIDE, Wide, of_each, path};

/// Finalizer that keeps an object from being removed.
const LINGERS: &str = "random.test/lingers";

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

fn read_by<F: Family, const N: usize>(driver: Driver, reads: Reads) -> Driver {
    match reads {
        Reads::Once => driver,
        Reads::Watched => driver.watching::<Object<F, N>>(""),
        Reads::WatchedOnRead => driver.watching_on_read::<Object<F, N>>(),
        Reads::AfterStage => driver.reusing_after_stage::<Object<F, N>>(),
    }
}

const DRIVE: [fn(Driver, Reads) -> Driver; WIDE] = of_each!(read_by, Wide: 0 1 2 3 4 5 6 7);

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

/// A cluster with these kinds in it.
#[derive(Clone, Debug)]
pub struct Objects(pub Cluster);

/// All objects of each kind, by name.
pub type ObjectsByKind = Vec<BTreeMap<String, Document>>;

impl Objects {
    /// A new one; others are copied from it.
    ///
    /// # Panics
    /// If the kinds cannot be defined.
    pub fn new() -> Self {
        let cluster = Cluster(Server::new(1));
        let all = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        for number in 0..WIDE {
            let made = cluster.request(Method::POST, all, &things::definition::<Wide>(number));
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
    pub fn all(&self, kinds: usize) -> ObjectsByKind {
        (0..kinds).map(|number| self.list_kind(number)).collect()
    }

    fn list_kind(&self, number: usize) -> BTreeMap<String, Document> {
        let list = self
            .0
            .request(Method::GET, &path::<Wide>(number), &Value::Null)
            .ok();
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
        let path = format!("{}/{name}", path::<Wide>(number));
        self.0.request(Method::GET, &path, &Value::Null).ok()
    }

    /// Creates an object. Returns true if it did not exist.
    pub fn create(&self, number: usize, name: &str, spec: &Value) -> bool {
        let object = json!({
            "apiVersion": "random.test/v1", "kind": format!("Wide{number}"),
            "metadata": { "name": name }, "spec": spec,
        });
        let path = format!("{}?fieldManager=somebody", path::<Wide>(number));
        self.0.request(Method::POST, &path, &object).is_ok()
    }

    /// Changes an object. Returns true if it exists.
    pub fn edit(&self, number: usize, name: &str, change: impl FnOnce(&mut Value)) -> bool {
        let Some(mut object) = self.get(number, name) else {
            return false;
        };
        change(&mut object);
        let path = format!("{}/{name}?fieldManager=somebody", path::<Wide>(number));
        self.0.request(Method::PUT, &path, &object).is_ok()
    }

    /// Deletes an object. `held` keeps it from being removed.
    pub fn delete(&self, number: usize, name: &str, held: bool) -> bool {
        if held {
            self.edit(number, name, |object| {
                object["metadata"]["finalizers"] = json!([LINGERS]);
            });
        }
        let path = format!("{}/{name}", path::<Wide>(number));
        self.0.request(Method::DELETE, &path, &Value::Null).is_ok()
    }

    /// Releases an object that lingers. Returns true if it did linger.
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
