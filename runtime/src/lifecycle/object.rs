//! Objects as caches keep them, their kinds, and references to them.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use serde::de::DeserializeOwned;

type Decode = fn(&serde_json::Value) -> Result<Arc<dyn Any + Send + Sync>, serde_json::Error>;

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
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    decode: Decode,
    rust: TypeId,
}

impl Kind {
    /// The kind of a Rust type.
    pub fn of<K>() -> Self
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
            decode: |value| Ok(Arc::new(K::deserialize(value)?)),
            rust: TypeId::of::<K>(),
        }
    }

    /// `v1`, `apps/v1`.
    pub fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// Decodes an object as the Rust type that this kind was made of.
    ///
    /// # Errors
    /// What serde says about the first field that does not fit.
    pub fn decode(
        &self,
        object: &serde_json::Value,
    ) -> Result<Arc<dyn Any + Send + Sync>, serde_json::Error> {
        (self.decode)(object)
    }

    /// Whether one cache serves both: the same kind, decoded as the same Rust type.
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

    /// Whether both are the same kind of the same group; versions do not count.
    pub fn is(&self, other: &Self) -> bool {
        (&self.group, &self.kind) == (&other.group, &other.kind)
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.api_version(), self.kind)
    }
}

/// A reference to an object: kind, namespace where it has one, name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectRef {
    /// CamelCase kind.
    pub kind: String,
    /// `None` for cluster-scoped kinds.
    pub namespace: Option<String>,
    /// `metadata.name`.
    pub name: String,
}

impl ObjectRef {
    /// A reference by names.
    pub fn of<K: Resource<DynamicType = ()>>(namespace: Option<&str>, name: &str) -> Self {
        Self {
            kind: K::kind(&()).into_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        }
    }

    /// A reference to an object at hand.
    pub fn to<K: Resource<DynamicType = ()>>(object: &K) -> Self {
        Self::of::<K>(
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
    /// Decoded as its Rust type, or why it could not be.
    pub decoded: Result<Arc<dyn Any + Send + Sync>, String>,
    /// The whole object, kept for kinds that are written.
    pub raw: Option<Arc<serde_json::Value>>,
}

impl Stored {
    /// The object as a Rust type; `None` if it could not be decoded or is of another type.
    pub fn get<K: 'static>(&self) -> Option<&K> {
        self.decoded.as_ref().ok()?.downcast_ref()
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
