//! Existing AccessGrants, as reported by watches: of all namespaces, or of each watched one. Stores
//! only uids and places of grants.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use kube::ResourceExt;
use kube::core::PartialObjectMeta;
use kube::runtime::watcher::Event;
use lifecycle_specs_skupper::access_grant::AccessGrant;

/// Namespace and name.
pub(super) type Named = (String, String);

/// Grants by uid.
type Grants = BTreeMap<String, Named>;

/// Grants of each watch; `None` until they are listed for the first time.
pub(super) struct Known(Mutex<Vec<Option<Grants>>>);

impl Known {
    /// Creates an index that is fed by this number of watches.
    pub(super) fn new(watches: usize) -> Self {
        Self(Mutex::new(vec![None; watches]))
    }

    /// Processes an event of a watch. `listed` collects the items of its current list.
    pub(super) fn learn(
        &self,
        event: Event<PartialObjectMeta<AccessGrant>>,
        watch: usize,
        listed: &mut Option<Grants>,
    ) {
        let named = |grant: &PartialObjectMeta<AccessGrant>| {
            let place = (grant.namespace().unwrap_or_default(), grant.name_any());
            Some((grant.uid()?, place))
        };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = &mut all[watch];
        match event {
            Event::Init => *listed = Some(Grants::new()),
            Event::InitApply(grant) => listed.get_or_insert_default().extend(named(&grant)),
            Event::InitDone => *known = Some(listed.take().unwrap_or_default()),
            Event::Apply(grant) => known.get_or_insert_default().extend(named(&grant)),
            Event::Delete(grant) => {
                let known = known.as_mut().zip(grant.uid());
                drop(known.and_then(|(known, uid)| known.remove(&uid)));
            }
        }
    }

    /// Returns the place of the grant with a uid, if it exists; `None` while not all grants are
    /// listed.
    pub(super) fn find_grant(&self, uid: &str) -> Option<Option<Named>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all: Option<Vec<&Grants>> = all.iter().map(Option::as_ref).collect();
        Some(all?.into_iter().find_map(|part| part.get(uid)).cloned())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn grant(namespace: &str, uid: &str) -> PartialObjectMeta<AccessGrant> {
        let meta = json!({ "name": "grant", "namespace": namespace, "uid": uid });
        serde_json::from_value(json!({ "metadata": meta })).unwrap()
    }

    #[test]
    fn no_grant_is_unknown_before_all_namespaces_are_listed() {
        let known = Known::new(2);
        let list = |watch, grants: Vec<PartialObjectMeta<AccessGrant>>| {
            let mut listed = None;
            known.learn(Event::Init, watch, &mut listed);
            for grant in grants {
                known.learn(Event::InitApply(grant), watch, &mut listed);
            }
            known.learn(Event::InitDone, watch, &mut listed);
        };
        let place = |namespace: &str| Some(Some((namespace.to_owned(), "grant".to_owned())));
        list(0, vec![grant("east", "1")]);
        assert_eq!(known.find_grant("1"), None);
        list(1, vec![grant("west", "2")]);
        assert_eq!(
            (known.find_grant("1"), known.find_grant("2")),
            (place("east"), place("west"))
        );
        list(0, Vec::new());
        assert_eq!(
            (known.find_grant("1"), known.find_grant("2")),
            (Some(None), place("west"))
        );
        known.learn(Event::Delete(grant("west", "2")), 1, &mut None);
        assert_eq!(known.find_grant("2"), Some(None));
    }
}
