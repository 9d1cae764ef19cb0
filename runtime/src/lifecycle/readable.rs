//! Read-only objects that may exist without being decodable. A lifecycle that declares its input as
//! such continues despite such an object.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;

/// Object of an input that is declared `[Readable<K>]` or `Readable<K>`. Its Rust type may be
/// unable to represent it, because it was stored under another definition. A reconciliation then
/// continues, and its author decides how to treat it.
#[derive(Clone, Debug)]
pub struct Readable<K>(Reading<K>);

#[derive(Clone, Debug)]
enum Reading<K> {
    Whole(Box<K>),
    Flawed {
        metadata: Box<ObjectMeta>,
        flaw: String,
        before: Option<Arc<Readable<K>>>,
    },
}

impl<K> Readable<K> {
    /// Returns an unreadable object with the reason. `before` is its last readable version, as far
    /// as this process has seen it.
    pub fn flawed(metadata: ObjectMeta, flaw: String, before: Option<Arc<Self>>) -> Self {
        Self(Reading::Flawed {
            metadata: Box::new(metadata),
            flaw,
            before,
        })
    }

    /// The object as it is, or as it was when it could be read last. `None` of one that this process was never able to read.
    pub fn known(&self) -> Option<&K> {
        match &self.0 {
            Reading::Whole(object) => Some(object),
            Reading::Flawed { before, .. } => before.as_ref()?.known(),
        }
    }

    /// Why it cannot be read, if it cannot.
    pub fn flaw(&self) -> Option<&str> {
        match &self.0 {
            Reading::Whole(_) => None,
            Reading::Flawed { flaw, .. } => Some(flaw),
        }
    }

    /// The object as it is, if it can be read.
    pub(crate) fn as_object(&self) -> Option<&K> {
        match &self.0 {
            Reading::Whole(object) => Some(object),
            Reading::Flawed { .. } => None,
        }
    }
}

impl<K> From<K> for Readable<K> {
    fn from(object: K) -> Self {
        Self(Reading::Whole(Box::new(object)))
    }
}

/// Gives access to the metadata: the name and the owners of an object can always be read.
impl<K: Resource> Resource for Readable<K> {
    type DynamicType = K::DynamicType;
    type Scope = K::Scope;

    fn kind(dt: &Self::DynamicType) -> Cow<'_, str> {
        K::kind(dt)
    }

    fn group(dt: &Self::DynamicType) -> Cow<'_, str> {
        K::group(dt)
    }

    fn version(dt: &Self::DynamicType) -> Cow<'_, str> {
        K::version(dt)
    }

    fn plural(dt: &Self::DynamicType) -> Cow<'_, str> {
        K::plural(dt)
    }

    fn meta(&self) -> &ObjectMeta {
        match &self.0 {
            Reading::Whole(object) => object.meta(),
            Reading::Flawed { metadata, .. } => metadata,
        }
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        match &mut self.0 {
            Reading::Whole(object) => object.meta_mut(),
            Reading::Flawed { metadata, .. } => metadata,
        }
    }
}

/// Builds the erased placeholder of an object that cannot be decoded.
pub(super) fn unread<K: Send + Sync + 'static>(
    metadata: &ObjectMeta,
    flaw: &str,
    before: Option<Arc<dyn Any + Send + Sync>>,
) -> Arc<dyn Any + Send + Sync> {
    let before = before.and_then(|before| before.downcast::<Readable<K>>().ok());
    Arc::new(Readable::<K>::flawed(
        metadata.clone(),
        flaw.to_owned(),
        before,
    ))
}

#[cfg(test)]
mod tests {
    use kube::runtime::watcher::Event;
    use serde_json::{Value, json};

    use super::*;
    use crate::cluster::fixture::Thing;
    use crate::cluster::store::{Name, Raw, Store};
    use crate::lifecycle::{Kind, Stored};

    fn thing_event(uid: &str, parts: &Value) -> Event<Raw> {
        let thing = json!({
            "metadata": { "name": "t", "namespace": "ns", "uid": uid, "labels": { "a": "b" } },
            "spec": { "parts": parts },
        });
        Event::Apply(Raw::new(thing))
    }

    fn seen(store: &Store) -> Arc<Stored> {
        let name = Name {
            namespace: Some("ns".to_owned()),
            name: "t".to_owned(),
        };
        Arc::clone(store.get(&name).expect("it is there"))
    }

    /// Reads the object: the number of its parts, and the reason why it cannot be decoded.
    fn read(store: &Store) -> (Option<usize>, Option<String>) {
        let seen = seen(store);
        let thing = seen.get::<Readable<Thing>>().expect("it is always there");
        let labels = thing.meta().labels.as_ref();
        assert_eq!(labels.map(std::collections::BTreeMap::len), Some(1));
        assert_eq!(thing.flaw().is_none(), seen.get::<Thing>().is_some());
        let parts = thing.known().map(|thing| thing.spec.parts.len());
        (parts, thing.flaw().map(str::to_owned))
    }

    #[test]
    fn what_cannot_be_read_is_there_with_what_it_was_when_it_could_be() {
        let odd = Some("spec.parts: invalid type: string \"all\", expected a sequence".to_owned());
        let mut store = Store::new(Kind::for_type::<Thing>());
        store.take(thing_event("u", &json!(["x"])));
        assert_eq!(read(&store), (Some(1), None));
        for _ in 0..2 {
            store.take(thing_event("u", &json!("all")));
            assert_eq!(read(&store), (Some(1), odd.clone()));
        }
        // Another one of the name, and the same after a restart.
        store.take(thing_event("v", &json!("all")));
        assert_eq!(read(&store), (None, odd.clone()));
        let mut store = Store::new(Kind::for_type::<Readable<Thing>>());
        store.take(thing_event("u", &json!("all")));
        assert_eq!(read(&store), (None, odd));
        store.take(thing_event("u", &json!([])));
        assert_eq!(read(&store), (Some(0), None));
    }

    #[test]
    fn one_cache_serves_who_needs_it_readable_and_who_does_not() {
        let (strict, tolerant) = (
            Kind::for_type::<Thing>(),
            Kind::for_type::<Readable<Thing>>(),
        );
        assert!(strict.shares_cache(&tolerant) && tolerant.shares_cache(&strict));
        assert_eq!(strict.path(None), tolerant.path(None));
        assert!(tolerant.is_tolerant() && !strict.is_tolerant());
    }
}
