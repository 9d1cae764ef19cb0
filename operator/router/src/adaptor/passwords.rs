//! The passwords of proxies that the adaptor writes for the router. Knows neither the router nor where files are written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::Attributes;
use super::certificates::Folders;
use crate::config::proxies::{FILE, PASSWORD, file, has_file};
use crate::snapshot::Snapshot;
use crate::tls::MissingFile;

/// The passwords that were good last, and why others are not.
#[derive(Debug, Default)]
pub(super) struct Passwords {
    good: BTreeMap<String, Vec<u8>>,
    wrong: BTreeMap<String, String>,
}

impl Passwords {
    /// Takes over the passwords of a snapshot. One that cannot be read changes nothing.
    pub(super) fn update(&mut self, snapshot: &Snapshot) {
        let names: &BTreeSet<String> = &snapshot.desired.proxies;
        self.good.retain(|name, _| names.contains(name));
        self.wrong.clear();
        for name in names {
            match snapshot.files.get(&file(name)) {
                Some(Ok(bytes)) => {
                    self.good.insert(name.clone(), bytes.clone());
                }
                Some(Err(MissingFile::Gone(why))) => {
                    self.good.remove(name);
                    self.wrong.insert(name.clone(), why.clone());
                }
                Some(Err(MissingFile::Unread(why))) => {
                    let why = format!("proxyProfile `{name}`: its password cannot be read: {why}");
                    self.wrong.insert(name.clone(), why);
                }
                None => {
                    let why = format!("proxyProfile `{name}`: its password is not there yet");
                    self.wrong.insert(name.clone(), why);
                }
            }
        }
    }

    /// The problem of a proxy: also of one that has a good password from before.
    pub(super) fn trouble(&self, name: &str) -> Option<&str> {
        self.wrong.get(name).map(String::as_str)
    }

    /// The files, in a folder for each proxy.
    pub(super) fn folders(&self) -> Folders {
        let all = self.good.iter().map(|(name, password)| {
            let files = BTreeMap::from([(PASSWORD.to_owned(), password.clone())]);
            (name.clone(), files)
        });
        all.collect()
    }

    /// The attributes of a proxy for the router, with the file of its password where it is written.
    pub(super) fn proxy(
        &self,
        name: &str,
        attributes: &Attributes,
        root: &Path,
    ) -> Result<Attributes, String> {
        let mut attributes = attributes.clone();
        if !has_file(name, &attributes) {
            return Ok(attributes);
        }
        if !self.good.contains_key(name) {
            let why = self.trouble(name).map(str::to_owned);
            return Err(why.unwrap_or_else(|| format!("proxyProfile `{name}`: it has no password")));
        }
        let path = root.join(file(name));
        let password = format!("{FILE}{}", path.to_string_lossy());
        attributes.insert("password".to_owned(), Value::String(password));
        Ok(attributes)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn snapshot(password: &Result<Vec<u8>, MissingFile>) -> Snapshot {
        let document = json!([["proxyProfile", {
            "name": "squid", "username": "me", "password": "file:/etc/skupper-router-proxies/squid/password.txt",
        }]]);
        let none = |_: &str, _: &crate::config::Profile, _: &str| Ok(Vec::new());
        let snapshot = Snapshot::read(document.to_string().as_bytes(), none).unwrap();
        snapshot.with_passwords(|_| password.clone())
    }

    /// The values that the router gets, and the faults, after each of these.
    fn check(
        passwords: &[Result<&str, MissingFile>],
        expected: Result<&str, &str>,
        trouble: Option<&str>,
    ) {
        let mut kept = Passwords::default();
        let mut attributes = Attributes::new();
        for password in passwords {
            let password = password.clone().map(|text| text.as_bytes().to_vec());
            let snapshot = snapshot(&password);
            kept.update(&snapshot);
            let elements: Vec<(String, Attributes)> =
                serde_json::from_slice(&snapshot.document).unwrap();
            attributes = elements.into_iter().next().unwrap().1;
        }
        let proxy = kept.proxy("squid", &attributes, Path::new("/proxies"));
        let proxy = proxy.map(|proxy| {
            assert_eq!(proxy["password"], "file:/proxies/squid/password.txt");
            String::from_utf8(kept.folders()["squid"][PASSWORD].clone()).unwrap()
        });
        assert_eq!(proxy.as_deref().map_err(String::as_str), expected);
        assert_eq!(kept.trouble("squid"), trouble);
    }

    #[test]
    fn a_password_that_was_good_stays_until_its_secret_is_gone() {
        let unread = || Err(MissingFile::Unread("it is odd".to_owned()));
        let gone = || Err(MissingFile::Gone("it is gone".to_owned()));
        let odd = "proxyProfile `squid`: its password cannot be read: it is odd";
        check(&[Ok("1")], Ok("1"), None);
        check(&[Ok("1"), Ok("2")], Ok("2"), None);
        check(&[unread()], Err(odd), Some(odd));
        check(&[Ok("1"), unread()], Ok("1"), Some(odd));
        check(&[unread(), Ok("1")], Ok("1"), None);
        check(&[Ok("1"), gone()], Err("it is gone"), Some("it is gone"));
        check(&[Ok("1"), gone(), unread()], Err(odd), Some(odd));
    }

    #[test]
    fn a_password_that_is_in_no_file_stays_as_it_is_written() {
        let open = json!({ "name": "squid", "host": "h", "password": "pass:x" });
        let open = open.as_object().unwrap();
        let proxy = Passwords::default().proxy("squid", open, Path::new("/proxies"));
        assert_eq!(proxy.as_ref(), Ok(open));
    }
}
