//! Texts of specs that may be empty, and the settings of a Site that are known.

use lifecycle_specs_skupper::site::SiteSpec;

/// Setting with the log levels of a router.
pub const LOGGING: &str = "router-logging";
/// The setting of how many connections a link has for data, which the existing router alone has.
pub const CONNECTIONS: &str = "router-data-connection-count";

/// How many contents of a Secret before the last one connections may go on with, which the existing router alone heeds: in the settings of a Site, and with a prefix on a Secret.
pub const PRIOR: &str = "tls-prior-valid-revisions";

/// A text; absent if it is empty.
pub fn named(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| !text.is_empty())
}

/// A setting of a Site; absent if it is empty.
pub fn setting<'a>(spec: &'a SiteSpec, name: &str) -> Option<&'a str> {
    named(spec.settings.as_ref()?.get(name))
}
