//! Reference to the ConfigMap that the router follows.

use std::str::FromStr;

/// A ConfigMap, as the command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigMapRef {
    /// Namespace of the ConfigMap and of the Secrets.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl FromStr for ConfigMapRef {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_name = |name: &str| {
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
            !name.is_empty() && name.bytes().all(allowed)
        };
        match text.split_once('/') {
            Some((namespace, name)) if is_name(namespace) && is_name(name) => Ok(Self {
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            }),
            Some(_) | None => Err("it is no NAMESPACE/CONFIGMAP".to_owned()),
        }
    }
}
