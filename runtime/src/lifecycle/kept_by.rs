//! Who keeps an object that has no owner reference: an annotation that names it, the same one for all operators of this runtime.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Serialize};

/// The annotation. One key for all operators, so that none adopts what another keeps.
pub const KEPT_BY: &str = "lifecycle-runtime/kept-by";

/// Who keeps an object: what made it or took it over, although the object does not go with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptBy {
    /// Group and version of its kind.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Where it is, unless its kind is in no namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// What it is called.
    pub name: String,
    /// Which of all that are called so.
    pub uid: String,
    /// It did not make the object, but took it over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopted: bool,
}

impl KeptBy {
    /// What an object says. An annotation that cannot be read names somebody whom nobody knows.
    pub fn of(meta: &ObjectMeta) -> Option<Self> {
        let text = meta.annotations.as_ref()?.get(KEPT_BY)?;
        Some(serde_json::from_str(text).unwrap_or_default())
    }

    /// As the annotation says it.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Whether somebody of this kind, place and name is meant, whichever of them.
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

    fn kept() -> KeptBy {
        KeptBy {
            api_version: "example.com/v1".to_owned(),
            kind: "Bucket".to_owned(),
            namespace: Some("ns".to_owned()),
            name: "b".to_owned(),
            uid: "u".to_owned(),
            adopted: false,
        }
    }

    fn said(text: &str) -> ObjectMeta {
        ObjectMeta {
            annotations: Some(BTreeMap::from([(KEPT_BY.to_owned(), text.to_owned())])),
            ..ObjectMeta::default()
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let adopted = KeptBy {
            adopted: true,
            ..kept()
        };
        for one in [kept(), adopted] {
            assert_eq!(KeptBy::of(&said(&one.text())), Some(one));
        }
        assert_eq!(KeptBy::of(&ObjectMeta::default()), None);
    }

    #[test]
    fn what_cannot_be_read_names_nobody_whom_we_know() {
        let broken = KeptBy::of(&said("no JSON")).expect("somebody keeps it");
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
        assert!(kept().is_called("example.com", "Bucket", &named("ns", "b")));
        assert!(!kept().is_called("example.com", "Bucket", &named("ns", "c")));
        assert!(!kept().is_called("example.com", "Bucket", &named("other", "b")));
        assert!(!kept().is_called("example.com", "Pail", &named("ns", "b")));
        assert!(!kept().is_called("", "Bucket", &named("ns", "b")));
    }
}
