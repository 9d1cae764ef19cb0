//! Controller that manages a namespace: the one that its ConfigMap names, or any if it has no such
//! ConfigMap.

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use lifecycle_runtime::{Because, ObjectRef};
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

    /// Returns the other controller that manages a namespace with this ConfigMap, if any.
    pub fn other<'a>(&self, controller_config: Option<&'a ConfigMap>) -> Option<&'a str> {
        let data = controller_config?.data.as_ref()?;
        let named = data.get(CONTROLLER)?;
        (!named.is_empty() && *named != self.0).then_some(named)
    }

    /// Returns true if another controller manages a namespace with this ConfigMap, with the change
    /// that would make it this one.
    pub fn managed_by_other(&self, controller_config: Option<&ConfigMap>) -> Because<bool> {
        let Some(other) = self.other(controller_config) else {
            return Because::plain(false);
        };
        let sentence = format!(
            "ConfigMap `{CONTROLLER_CONFIG}` assigns the namespace to controller `{other}`: to let `{}` manage it, set that name there, or remove the ConfigMap",
            self.0
        );
        Because::new(true, sentence)
    }
}

/// A reference to the ConfigMap of the namespace of an object.
pub fn controller_config(meta: &ObjectMeta) -> Option<ObjectRef> {
    let namespace = meta.namespace.as_deref();
    Some(ObjectRef::new::<ConfigMap>(namespace, CONTROLLER_CONFIG))
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
        assert_eq!(id.other(None), None);
        assert_eq!(id.other(Some(&named(None))), None);
        assert_eq!(id.other(Some(&named(Some("")))), None);
        assert_eq!(id.other(Some(&named(Some("skupper/controller")))), None);
        let west = named(Some("west/controller"));
        assert_eq!(id.other(Some(&west)), Some("west/controller"));
        let said = id.managed_by_other(Some(&west)).sentence;
        assert!(said.contains("controller `west/controller`"), "{said}");
    }
}
