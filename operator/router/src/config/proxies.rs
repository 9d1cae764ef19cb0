//! Proxies of the existing router with a password in a file, which the adaptor writes there. Pure.

use serde_json::{Map, Value};

/// Folder in which the existing implementation expects the files of proxies, one folder for each
/// proxy.
const PROXIES: &str = "/etc/skupper-router-proxies/";

/// The beginning of a password that is in a file.
pub(crate) const FILE: &str = "file:";

/// The name of the file in the folder of its proxy.
pub(crate) const PASSWORD: &str = "password.txt";

/// Returns true if the password of a proxy is in the proxy's own file. Any other password is taken
/// from the document as written.
pub(crate) fn has_file(name: &str, map: &Map<String, Value>) -> bool {
    let path = map.get("password").and_then(Value::as_str);
    let path = path.and_then(|path| path.strip_prefix(FILE)?.strip_prefix(PROXIES));
    let is_folder = !name.is_empty() && !name.starts_with("..") && !name.contains(['/', '\0']);
    is_folder && name != "." && path.is_some_and(|path| path == file(name))
}

/// The path of the file in a snapshot, as if it were one of a profile.
pub(crate) fn file(name: &str) -> String {
    format!("{name}/{PASSWORD}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_password_is_in_the_file_of_its_own_proxy_or_stays_as_it_is() {
        let check = |name: &str, password: Value, expected: bool| {
            let Value::Object(map) = json!({ "password": password }) else {
                panic!("it is an object");
            };
            assert_eq!(has_file(name, &map), expected, "{name} {password}");
        };
        let of = |name: &str| {
            json!(format!(
                "file:/etc/skupper-router-proxies/{name}/password.txt"
            ))
        };
        check("squid", of("squid"), true);
        check("squid", of("other"), false);
        check("squid", json!("file:/etc/shadow"), false);
        check("squid", json!("pass:secret"), false);
        check("squid", json!(null), false);
        check("squid", json!(7), false);
        for name in ["", ".", "..", "..unloaded.x", "a/b", "a\0"] {
            check(name, of(name), false);
        }
    }
}
