//! Selection of a Listener by the annotations of a claim. At provisioning they are read from the
//! claim, later from the answer given then.

use k8s_openapi::api::core::v1::{ObjectReference, PersistentVolume, PersistentVolumeClaim};
use lifecycle_runtime::ObjectRef;

/// Annotation: the class of a Listener that is made for the claim.
pub(super) const CLASS: &str = "listeners.stackable.tech/listener-class";
/// Annotation: a Listener that exists.
pub(super) const NAME: &str = "listeners.stackable.tech/listener-name";

/// Listener that a claim selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Selector<'a> {
    /// One of its own, of this class.
    Class(&'a str),
    /// The one of this name.
    Name(&'a str),
}

/// Why the annotations name no Listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unclear {
    #[error(
        "the PersistentVolumeClaim has neither annotation `{CLASS}` nor `{NAME}`; set one of them"
    )]
    Neither,
    #[error("the PersistentVolumeClaim has both annotations `{CLASS}` and `{NAME}`; keep one")]
    Both,
}

/// Returns the selection of a new claim.
pub(super) fn parse_selector<'a>(
    read: impl Fn(&str) -> Option<&'a str>,
) -> Result<Selector<'a>, Unclear> {
    let said = |key| read(key).filter(|name| !name.is_empty());
    match (said(CLASS), said(NAME)) {
        (Some(class), None) => Ok(Selector::Class(class)),
        (None, Some(name)) => Ok(Selector::Name(name)),
        (None, None) => Err(Unclear::Neither),
        (Some(_), Some(_)) => Err(Unclear::Both),
    }
}

/// Returns the selection that was promised when the volume was made. The operator that this one
/// replaces accepted both annotations, and then used the class.
pub(super) fn promised<'a>(
    read: impl Fn(&str) -> Option<&'a str>,
) -> Result<Selector<'a>, Unclear> {
    match parse_selector(&read) {
        Err(Unclear::Both) => Ok(Selector::Class(read(CLASS).unwrap_or_default())),
        clear => clear,
    }
}

/// An annotation of a claim.
pub(super) fn annotation<'a>(claim: &'a PersistentVolumeClaim, key: &str) -> Option<&'a str> {
    let annotations = claim.metadata.annotations.as_ref()?;
    annotations.get(key).map(String::as_str)
}

/// The claim that has a volume.
pub(super) fn of_volume(volume: &PersistentVolume) -> Option<ObjectRef> {
    let claim: &ObjectReference = volume.spec.as_ref()?.claim_ref.as_ref()?;
    let namespace = claim.namespace.as_deref();
    Some(ObjectRef::new::<PersistentVolumeClaim>(
        namespace,
        claim.name.as_deref()?,
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn annotation_reader<'a>(
        pairs: &[(&'a str, &'a str)],
    ) -> impl Fn(&str) -> Option<&'a str> + use<'a> {
        let map: BTreeMap<&str, &str> = pairs.iter().copied().collect();
        move |key| map.get(key).copied()
    }

    #[test]
    fn b41_one_annotation_decides_and_an_old_volume_may_have_both() {
        let class = annotation_reader(&[(CLASS, "c")]);
        assert_eq!(parse_selector(&class), Ok(Selector::Class("c")));
        assert_eq!(promised(&class), Ok(Selector::Class("c")));
        let name = annotation_reader(&[(NAME, "n"), (CLASS, "")]);
        assert_eq!(parse_selector(&name), Ok(Selector::Name("n")));
        let both = annotation_reader(&[(NAME, "n"), (CLASS, "c")]);
        assert_eq!(parse_selector(&both), Err(Unclear::Both));
        assert_eq!(promised(&both), Ok(Selector::Class("c")));
        let neither = annotation_reader(&[("other", "x")]);
        assert_eq!(promised(&neither), Err(Unclear::Neither));
    }

    #[test]
    fn b41_what_is_unclear_names_both_annotations() {
        for unclear in [Unclear::Neither, Unclear::Both] {
            let sentence = unclear.to_string();
            assert!(
                sentence.contains(CLASS) && sentence.contains(NAME),
                "{sentence}"
            );
            assert!(sentence.len() <= 200, "{sentence}");
        }
    }
}
