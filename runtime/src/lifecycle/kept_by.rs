//! Keeper of an object that has no owner reference. An annotation names the keeper, with the same
//! key for all operators of this runtime.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Serialize};

/// Annotation of the keeper. All operators share one key, so that none adopts an object that
/// another keeps.
pub const KEPT_BY: &str = "lifecycle-runtime/kept-by";

/// Keeper of an object: the object that created it or took it over, although the kept object is not
/// deleted with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptBy {
    /// Group and version of its kind.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Namespace of the keeper, unless its kind is cluster-scoped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Name of the keeper.
    pub name: String,
    /// Uid of the keeper, which distinguishes it from others of that name.
    pub uid: String,
    /// It did not make the object, but took it over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopted: bool,
}

impl KeptBy {
    /// Reads the keeper from the metadata of an object. An annotation that cannot be decoded names
    /// an unknown keeper.
    pub fn from_meta(meta: &ObjectMeta) -> Option<Self> {
        let text = meta.annotations.as_ref()?.get(KEPT_BY)?;
        Some(serde_json::from_str(text).unwrap_or_default())
    }

    /// Returns the text of the annotation.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns true if the keeper has this group, kind, namespace and name, regardless of its uid.
    pub fn is_called(&self, group: &str, kind: &str, meta: &ObjectMeta) -> bool {
        let own = self.api_version.split_once('/');
        own.map_or("", |(group, _)| group) == group
            && self.kind == kind
            && self.namespace == meta.namespace
            && Some(&self.name) == meta.name.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn sample_keeper() -> KeptBy {
        KeptBy {
            api_version: "example.com/v1".to_owned(),
            kind: "Bucket".to_owned(),
            namespace: Some("ns".to_owned()),
            name: "b".to_owned(),
            uid: "u".to_owned(),
            adopted: false,
        }
    }

    fn annotated_meta(text: &str) -> ObjectMeta {
        ObjectMeta {
            annotations: Some(BTreeMap::from([(KEPT_BY.to_owned(), text.to_owned())])),
            ..ObjectMeta::default()
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let adopted = KeptBy {
            adopted: true,
            ..sample_keeper()
        };
        for one in [sample_keeper(), adopted] {
            assert_eq!(KeptBy::from_meta(&annotated_meta(&one.text())), Some(one));
        }
        assert_eq!(KeptBy::from_meta(&ObjectMeta::default()), None);
    }

    #[test]
    fn what_cannot_be_read_names_nobody_whom_we_know() {
        let broken = KeptBy::from_meta(&annotated_meta("no JSON")).expect("somebody keeps it");
        let meta = ObjectMeta {
            name: Some("b".to_owned()),
            ..ObjectMeta::default()
        };
        assert!(!broken.is_called("", "Bucket", &meta));
        assert_eq!(broken.uid, "");
    }

    #[test]
    fn an_earlier_one_of_the_same_name_is_called_the_same_in_any_version() {
        let named = |namespace: &str, name: &str| ObjectMeta {
            namespace: Some(namespace.to_owned()),
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        };
        assert!(sample_keeper().is_called("example.com", "Bucket", &named("ns", "b")));
        assert!(!sample_keeper().is_called("example.com", "Bucket", &named("ns", "c")));
        assert!(!sample_keeper().is_called("example.com", "Bucket", &named("other", "b")));
        assert!(!sample_keeper().is_called("example.com", "Pail", &named("ns", "b")));
        assert!(!sample_keeper().is_called("", "Bucket", &named("ns", "b")));
    }
}
