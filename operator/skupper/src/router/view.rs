//! The status that a router reports for the config entries of one object. Pure.

use lifecycle_router::config;
use lifecycle_router::tls::EXPIRED;
use lifecycle_specs_skupper::router::{EntryState, RouterEntry, RouterState};

use crate::config::document::{self, ConfigEntry};

/// Status that a router reports for the config entries of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouterView {
    /// It has applied others.
    Behind,
    /// All wait, rightly.
    Idle,
    /// All work as intended.
    Up,
    /// One cannot, because of this.
    Failed(String),
}

impl RouterView {
    /// Returns the router's status for these entries.
    pub fn from_report(entries: &[ConfigEntry], report: &RouterState) -> Self {
        let mut view = Self::Up;
        for entry in entries {
            let told = report.entries.get(&document::key(entry));
            let Some(told) = told.filter(|told| told.hash == config::hash(&entry.1)) else {
                return Self::Behind;
            };
            let trouble = match &told.state {
                EntryState::Failed(why) => Some(why.clone()),
                EntryState::Idle | EntryState::Up => profile_trouble(entry, report),
            };
            match (trouble, &told.state, &view) {
                (Some(why), _, Self::Idle | Self::Up | Self::Behind) => view = Self::Failed(why),
                (None, EntryState::Idle, Self::Up) => view = Self::Idle,
                (Some(_) | None, EntryState::Failed(_) | EntryState::Idle | EntryState::Up, _) => {}
            }
        }
        view
    }
}

impl RouterView {
    /// Judges a listener by its own entry and by related entries, which may wait. A router in the
    /// middle of a change, which does not serve a matched listener yet, counts as behind.
    #[must_use]
    pub fn of_listener(own: Self, beside: Self, is_matched: bool) -> Self {
        match (own, beside) {
            (Self::Behind, _) | (_, Self::Behind) => Self::Behind,
            (Self::Failed(why), _) | (_, Self::Failed(why)) => Self::Failed(why),
            (Self::Idle, Self::Idle | Self::Up) if !is_matched => Self::Idle,
            (Self::Up, Self::Idle | Self::Up) if is_matched => Self::Up,
            (Self::Idle | Self::Up, Self::Idle | Self::Up) => Self::Behind,
        }
    }
}

/// Returns the error in the certificate files of an entry that works nevertheless. The router keeps
/// serving with the last valid files.
fn profile_trouble((_, attributes): &ConfigEntry, report: &RouterState) -> Option<String> {
    let profile = attributes.get("sslProfile")?.as_str()?;
    match &report.entries.get(&format!("sslProfile/{profile}"))?.state {
        EntryState::Failed(why) if why.starts_with(EXPIRED) => Some(format!(
            "sslProfile `{profile}`: {why}; it is served until then"
        )),
        EntryState::Failed(why) => Some(format!(
            "sslProfile `{profile}`: {why}; the router serves its last valid files until the Secret is corrected"
        )),
        EntryState::Idle | EntryState::Up => None,
    }
}

/// Returns the router's report of the Link with the given name, as the router last applied it.
pub fn of_link<'a>(name: &str, report: &'a RouterState) -> Option<&'a RouterEntry> {
    report.entries.get(&format!("connector/{name}"))
}

/// Why a router has applied something else.
pub fn behind(report: &RouterState) -> String {
    match &report.error {
        Some(error) => error.clone(),
        None => "the router has not read its newest configuration yet".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn entry() -> ConfigEntry {
        let attributes = json!({ "name": "listener/web", "sslProfile": "tls" });
        let attributes = attributes.as_object().expect("it is an object").clone();
        ("tcpListener", attributes)
    }

    fn report(listener: EntryState, profile: EntryState) -> RouterState {
        let hash = config::hash(&entry().1);
        let of = |state| RouterEntry {
            hash: hash.clone(),
            state,
            remote: None,
        };
        RouterState {
            entries: BTreeMap::from([
                ("tcpListener/listener/web".to_owned(), of(listener)),
                ("sslProfile/tls".to_owned(), of(profile)),
            ]),
            ..RouterState::default()
        }
    }

    fn check(listener: EntryState, profile: EntryState, expected: RouterView) {
        let view = RouterView::from_report(&[entry()], &report(listener, profile));
        assert_eq!(view, expected);
    }

    /// Row 57 of the acceptance table: the listener serves, but not with the content that its
    /// author has written.
    #[test]
    fn s57_a_rotation_that_does_not_fit_is_told() {
        let broken = || EntryState::Failed("it does not fit".to_owned());
        let said = "sslProfile `tls`: it does not fit; the router serves its last valid files until the Secret is corrected";
        check(EntryState::Up, EntryState::Up, RouterView::Up);
        let expired = EntryState::Failed(format!("{EXPIRED}Jan  1: renew it"));
        let over = "sslProfile `tls`: its certificate expired at Jan  1: renew it; it is served until then";
        check(EntryState::Up, expired, RouterView::Failed(over.to_owned()));
        check(
            EntryState::Up,
            broken(),
            RouterView::Failed(said.to_owned()),
        );
        check(
            EntryState::Idle,
            broken(),
            RouterView::Failed(said.to_owned()),
        );
        let failed = EntryState::Failed("no socket".to_owned());
        let own = RouterView::Failed("no socket".to_owned());
        check(failed, broken(), own);
    }
}
