//! Which controller manages a namespace: the one that its ConfigMap names, or any where there is none.

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use lifecycle_runtime::ObjectRef;
use lifecycle_specs_skupper::router::CONTROLLER_CONFIG;

/// Key of the ConfigMap.
const CONTROLLER: &str = "controller";

/// This controller, as namespaces name it: `namespace/name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerId(String);

impl ControllerId {
    /// By its namespace and its name there.
    pub fn new(namespace: &str, name: &str) -> Self {
        Self(format!("{namespace}/{name}"))
    }

    /// Its namespace.
    pub fn namespace(&self) -> &str {
        let namespace = self.0.split_once('/');
        namespace.map_or(self.0.as_str(), |(namespace, _)| namespace)
    }

    /// Whether another controller manages a namespace with this ConfigMap.
    pub fn is_other(&self, controller_config: Option<&ConfigMap>) -> bool {
        let data = controller_config.and_then(|config| config.data.as_ref());
        let named = data.and_then(|data| data.get(CONTROLLER));
        named.is_some_and(|named| !named.is_empty() && *named != self.0)
    }
}

/// A reference to the ConfigMap of the namespace of an object.
pub fn controller_config(meta: &ObjectMeta) -> Option<ObjectRef> {
    let namespace = meta.namespace.as_deref();
    Some(ObjectRef::of::<ConfigMap>(namespace, CONTROLLER_CONFIG))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_ours_unless_it_names_another() {
        let id = ControllerId::new("skupper", "controller");
        let named = |data: Option<&str>| ConfigMap {
            data: data.map(|data| [("controller".to_owned(), data.to_owned())].into()),
            ..ConfigMap::default()
        };
        assert_eq!(id.namespace(), "skupper");
        assert!(!id.is_other(None));
        assert!(!id.is_other(Some(&named(None))));
        assert!(!id.is_other(Some(&named(Some("")))));
        assert!(!id.is_other(Some(&named(Some("skupper/controller")))));
        assert!(id.is_other(Some(&named(Some("west/controller")))));
    }
}
