//! Objects as caches keep them, their kinds, and references to them.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::decode::located;
use super::readable::{self, Readable};
use super::status::{self, UnknownField};
use crate::machine::compare::Comparison;
use crate::machine::ir::Field;

type Erased = Arc<dyn Any + Send + Sync>;
type Decode = fn(&Value) -> Result<Erased, serde_json::Error>;
type Unread = fn(&ObjectMeta, &str, Option<Erased>) -> Erased;

/// A kind of object with everything that is needed to watch, decode and write it.
#[derive(Clone)]
pub struct Kind {
    /// API group; empty for the core group.
    pub group: String,
    /// API version without the group: `v1`.
    pub version: String,
    /// CamelCase kind: `Service`.
    pub kind: String,
    /// Lower-case plural as in request paths: `services`.
    pub plural: String,
    /// True if its objects are namespaced.
    pub namespaced: bool,
    decode: Decode,
    unread: Unread,
    tolerant: bool,
    status: fn() -> Option<&'static [&'static str]>,
    rust: TypeId,
}

impl Kind {
    /// The kind of a Rust type.
    pub fn for_type<K: Input>() -> Self {
        K::kind()
    }

    pub(super) fn typed<K>() -> Self
    where
        K: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
        K::Scope: 'static,
    {
        Self {
            group: K::group(&()).into_owned(),
            version: K::version(&()).into_owned(),
            kind: K::kind(&()).into_owned(),
            plural: K::plural(&()).into_owned(),
            namespaced: TypeId::of::<K::Scope>() == TypeId::of::<NamespaceResourceScope>(),
            decode: |value| Ok(Arc::new(Readable::from(decoded::<K>(value)?))),
            unread: readable::unread::<K>,
            tolerant: false,
            status: status::fields_of::<K>,
            rust: TypeId::of::<K>(),
        }
    }

    /// Returns the kind for reconciliations that continue despite unreadable objects.
    pub(super) fn tolerant(self) -> Self {
        Self {
            tolerant: true,
            ..self
        }
    }

    /// Returns true if a reconciliation continues despite an object of this kind that cannot be
    /// decoded.
    pub(crate) fn is_tolerant(&self) -> bool {
        self.tolerant
    }

    /// `v1`, `apps/v1`.
    pub fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// Decodes an object as [`Readable`] of the Rust type behind this kind. A missing `spec` counts
    /// as an empty one if the type allows that, because a schema need not require it. If only the
    /// `status` is unreadable, it counts as absent.
    ///
    /// # Errors
    /// Returns the path of the first field that does not fit, and the message of serde.
    pub fn decode(&self, object: &Value) -> Result<Erased, serde_json::Error> {
        (self.decode)(object)
    }

    /// Returns the placeholder for an object that cannot be decoded.
    pub(crate) fn unread(&self, meta: &ObjectMeta, flaw: &str, before: Option<Erased>) -> Erased {
        (self.unread)(meta, flaw, before)
    }

    /// The names under which declared fields are written into the status, as serde spells them for the Rust type.
    ///
    /// # Errors
    /// If the type has no such field.
    pub fn status_names(&self, declared: &[Field]) -> Result<Vec<&'static str>, UnknownField> {
        status::names(declared, (self.status)())
    }

    /// Returns true if the type of its status has a field of exactly this name, or does not list
    /// its fields.
    pub fn has_status_field(&self, name: &str) -> bool {
        (self.status)().is_none_or(|known| known.contains(&name))
    }

    /// Returns true if one cache serves both: the same kind, decoded as the same Rust type.
    pub fn shares_cache(&self, other: &Self) -> bool {
        self.is(other) && self.rust == other.rust
    }

    /// The path of all of its objects, or of those in one namespace.
    pub fn path(&self, namespace: Option<&str>) -> String {
        let root = match self.group.as_str() {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        };
        match namespace.filter(|_| self.namespaced) {
            Some(namespace) => format!("{root}/namespaces/{namespace}/{}", self.plural),
            None => format!("{root}/{}", self.plural),
        }
    }

    /// Returns true if both are the same kind of the same group; versions do not count.
    pub fn is(&self, other: &Self) -> bool {
        (&self.group, &self.kind) == (&other.group, &other.kind)
    }
}

/// Type of an input, as the line of the input names it: a Rust type, or [`Readable`] of one.
pub trait Input: Send + Sync + 'static {
    /// Returns the kind, and if a reconciliation continues despite unreadable objects of it.
    fn kind() -> Kind;
}

impl<K> Input for K
where
    K: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
    K::Scope: 'static,
{
    fn kind() -> Kind {
        Kind::typed::<K>()
    }
}

impl<K> Input for Readable<K>
where
    K: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
    K::Scope: 'static,
{
    fn kind() -> Kind {
        Kind::typed::<K>().tolerant()
    }
}

fn decoded<K: DeserializeOwned>(object: &Value) -> Result<K, serde_json::Error> {
    K::deserialize(object).or_else(|why| {
        let mut fields = object.as_object().cloned().unwrap_or_default();
        if fields.get("spec").is_none_or(Value::is_null) {
            fields.insert("spec".to_owned(), Value::Object(Map::new()));
            if let Ok(decoded) = K::deserialize(Value::Object(fields.clone())) {
                return Ok(decoded);
            }
        }
        // No decision reads the reported status, and another definition may have allowed other
        // types there.
        match fields.remove("status") {
            Some(_) => {
                K::deserialize(Value::Object(fields)).map_err(|_| located::<K>(object, &why))
            }
            None => Err(located::<K>(object, &why)),
        }
    })
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.api_version(), self.kind)
    }
}

/// A reference to an object: kind, namespace where it has one, name. Or to all that carry a label there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectRef {
    /// CamelCase kind.
    pub kind: String,
    /// `None` for cluster-scoped kinds.
    pub namespace: Option<String>,
    /// `metadata.name`; empty of those that carry a label, and of all.
    pub name: String,
    /// The label that they carry, with any value; an empty one is that of all.
    pub label: Option<String>,
}

impl ObjectRef {
    /// A reference by names.
    pub fn new<K: Resource<DynamicType = ()>>(namespace: Option<&str>, name: &str) -> Self {
        Self {
            kind: K::kind(&()).into_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
            label: None,
        }
    }

    /// Returns a reference to all objects of a namespace that have a label with any value. Only `by
    /// refs of` follows it.
    pub fn labelled<K: Resource<DynamicType = ()>>(namespace: Option<&str>, label: &str) -> Self {
        Self {
            label: Some(label.to_owned()),
            ..Self::new::<K>(namespace, "")
        }
    }

    /// A reference to all objects of a namespace. Only `by refs of` follows it.
    pub fn all_in<K: Resource<DynamicType = ()>>(namespace: Option<&str>) -> Self {
        // No label is called so.
        Self::labelled::<K>(namespace, "")
    }

    /// A reference to an object at hand.
    pub fn to<K: Resource<DynamicType = ()>>(object: &K) -> Self {
        Self::new::<K>(
            object.meta().namespace.as_deref(),
            object.meta().name.as_deref().unwrap_or_default(),
        )
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} `{namespace}/{}`", self.kind, self.name),
            None => write!(f, "{} `{}`", self.kind, self.name),
        }
    }
}

/// One object as a cache keeps it.
#[derive(Clone)]
pub struct Stored {
    /// Its metadata, without managed fields: those are in `raw`.
    pub meta: ObjectMeta,
    /// Decoded as [`Readable`] of its Rust type, or why it could not be.
    pub decoded: Result<Erased, String>,
    /// Placeholder for an object that cannot be decoded, if the input declares it.
    pub unread: Option<Erased>,
    /// The whole object, kept for kinds that are written. If only the status is written, its
    /// metadata and its status.
    pub raw: Option<Arc<Value>>,
    /// Comparison with its desired state.
    pub compared: Compared,
    /// Last version that could be decoded, if this one cannot.
    pub before: Option<Arc<Stored>>,
}

impl Stored {
    /// As it was when it could be read last.
    pub(crate) fn readable(self: &Arc<Self>) -> Option<Arc<Self>> {
        match &self.decoded {
            Ok(_) => Some(Arc::clone(self)),
            Err(_) => self.before.clone(),
        }
    }

    /// The object as a Rust type; `None` if it could not be decoded or is of another type. As [`Readable`] of its type it always is.
    pub fn get<K: 'static>(&self) -> Option<&K> {
        let found = self.decoded.as_ref().ok().or(self.unread.as_ref())?;
        let whole = || found.downcast_ref::<Readable<K>>()?.as_object();
        found.downcast_ref().or_else(whole)
    }
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (meta, decoded) = (&self.meta, self.decoded.is_ok());
        f.debug_struct("Stored")
            .field("namespace", &meta.namespace)
            .field("name", &meta.name)
            .field("uid", &meta.uid)
            .field("resource_version", &meta.resource_version)
            .field("decoded", &decoded)
            .finish_non_exhaustive()
    }
}

/// Comparison of this version of an object with its last desired state. Many lifecycles may want an
/// equal state of one object and check it after each change. The first one compares, and the others
/// reuse the result.
#[derive(Debug, Default)]
pub struct Compared(Mutex<Option<(u64, Comparison)>>);

impl Compared {
    /// Returns the comparison on the desired state with this fingerprint.
    pub(crate) fn get_or_compare(
        &self,
        wanted: u64,
        compare: impl FnOnce() -> Comparison,
    ) -> Comparison {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some((of, comparison)) if *of == wanted => comparison.clone(),
            Some(_) | None => {
                let comparison = compare();
                *known = Some((wanted, comparison.clone()));
                comparison
            }
        }
    }
}

/// A copy may be changed, so nothing is known of it.
impl Clone for Compared {
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Service};
    use serde_json::json;

    use super::*;
    use crate::cluster::fixture::Thing;

    #[test]
    fn what_is_wanted_again_is_not_compared_again() {
        let compared = Compared::default();
        let behind = |at: &str| Comparison::Behind { at: at.to_owned() };
        assert_eq!(compared.get_or_compare(1, || behind("a")), behind("a"));
        assert_eq!(
            compared.get_or_compare(1, || Comparison::Current),
            behind("a")
        );
        assert_eq!(
            compared.clone().get_or_compare(1, || behind("b")),
            behind("b")
        );
        assert_eq!(
            compared.get_or_compare(2, || Comparison::Current),
            Comparison::Current
        );
        assert_eq!(compared.get_or_compare(1, || behind("c")), behind("c"));
    }

    #[test]
    fn an_object_without_spec_has_an_empty_one() {
        let check = |object: Value, expected: Result<&str, &str>| {
            let decoded = Kind::for_type::<Thing>().decode(&object);
            let name = decoded.as_ref().map_err(ToString::to_string).map(|thing| {
                let thing = thing.downcast_ref::<Readable<Thing>>();
                let thing = thing.and_then(Readable::known).expect("it is a Thing");
                (
                    thing.metadata.name.clone().unwrap_or_default(),
                    thing.spec.parts.len(),
                )
            });
            let expected = expected
                .map(|name| (name.to_owned(), 0))
                .map_err(str::to_owned);
            assert_eq!(name, expected, "{object}");
        };
        let meta = json!({ "name": "t" });
        check(json!({ "metadata": meta }), Ok("t"));
        check(json!({ "metadata": meta, "spec": null }), Ok("t"));
        check(json!({ "metadata": meta, "spec": {} }), Ok("t"));
        let why = "spec.parts: invalid type: string \"all\", expected a sequence";
        check(
            json!({ "metadata": meta, "spec": { "parts": "all" } }),
            Err(why),
        );
        // The missing field is not the specification.
        check(json!({}), Err("missing field `metadata`"));
        check(
            json!([]),
            Err("invalid length 0, expected struct Thing with 2 elements"),
        );
        let map = Kind::for_type::<ConfigMap>().decode(&json!({ "metadata": meta }));
        assert!(map.is_ok());
    }

    #[test]
    fn an_object_whose_status_alone_cannot_be_read_is_one_without() {
        let decode = |spec: Value, status: Value| {
            let object = json!({ "metadata": { "name": "s" }, "spec": spec, "status": status });
            Kind::for_type::<Service>().decode(&object)
        };
        let odd = json!({ "loadBalancer": "ready" });
        let service = decode(json!({ "type": "ClusterIP" }), odd.clone()).unwrap();
        let service = service.downcast_ref::<Readable<Service>>().unwrap();
        let service = service.known().unwrap();
        assert_eq!(service.status, None);
        assert_eq!(
            service.spec.as_ref().unwrap().type_.as_deref(),
            Some("ClusterIP")
        );
        let why = decode(json!({ "type": 7 }), odd).err().unwrap();
        assert!(
            why.to_string()
                .starts_with("spec.type: invalid type: integer `7`"),
            "{why}"
        );
    }
}
