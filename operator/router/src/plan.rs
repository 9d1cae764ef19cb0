//! Changes that follow from a new document. Pure. An entry with an unchanged hash is left alone,
//! and so is one whose traffic takes the same path as before (another `observer`). Every other
//! change ends the connections that are open over the entry.

use std::collections::BTreeMap;

use crate::config::ConfigEntry;

/// Change of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing that its connections could notice.
    Keep,
    /// It was not there.
    Add,
    /// It is another one of that name.
    Replace,
    /// It is gone.
    Remove,
}

/// Returns the change of each entry, by name.
pub fn plan<'a, T: PartialEq>(
    old: &'a BTreeMap<String, ConfigEntry<T>>,
    new: &'a BTreeMap<String, ConfigEntry<T>>,
) -> BTreeMap<&'a str, Change> {
    let gone = old.keys().map(|name| (name.as_str(), Change::Remove));
    let mut changes: BTreeMap<&str, Change> = gone.collect();
    for (name, entry) in new {
        let change = match old.get(name) {
            None => Change::Add,
            Some(before) if before.hash == entry.hash || before.wanted == entry.wanted => {
                Change::Keep
            }
            Some(_) => Change::Replace,
        };
        changes.insert(name, change);
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Desired, read};

    fn check(old: &str, new: &str, expected: &[(&str, Change)]) {
        let listeners = |text: &str| -> Desired { read(text.as_bytes()).unwrap() };
        let (old, new) = (listeners(old), listeners(new));
        let found: Vec<_> = plan(&old.listeners, &new.listeners).into_iter().collect();
        assert_eq!(found, expected);
    }

    const ONE: &str = r#"[["tcpListener", {"name": "a", "port": "1024", "address": "x"}]]"#;

    #[test]
    fn only_what_traffic_depends_on_replaces() {
        check(ONE, ONE, &[("a", Change::Keep)]);
        let observed = r#"[["tcpListener", {"name": "a", "port": 1024, "address": "x", "observer": "http2"}]]"#;
        check(ONE, observed, &[("a", Change::Keep)]);
        let other = r#"[["tcpListener", {"name": "a", "port": "1024", "address": "y"}]]"#;
        check(ONE, other, &[("a", Change::Replace)]);
    }

    #[test]
    fn names_come_and_go() {
        let other = r#"[["tcpListener", {"name": "b", "port": "1024", "address": "x"}]]"#;
        check(ONE, other, &[("a", Change::Remove), ("b", Change::Add)]);
        check("[]", ONE, &[("a", Change::Add)]);
    }

    #[test]
    fn a_repaired_entry_is_another_one() {
        let broken = r#"[["tcpListener", {"name": "a", "port": "0", "address": "x"}]]"#;
        check(broken, ONE, &[("a", Change::Replace)]);
    }
}
