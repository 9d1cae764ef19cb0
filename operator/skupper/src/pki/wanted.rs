//! What is asked of a certificate. Knows none that there is.

use std::collections::BTreeSet;
use std::net::IpAddr;

use lifecycle_router::link::security::SITE_URI;

/// As long as a name of a certificate may be here.
const LONGEST: usize = 253;

/// What is asked of a certificate.
#[derive(Clone, Debug, Default)]
pub struct Wanted<'a> {
    /// The common name.
    pub subject: &'a str,
    /// The site that it is of; without this, one whose uid is the subject.
    pub site: Option<&'a str>,
    /// Names and addresses.
    pub hosts: Vec<&'a str>,
    /// Whether it is for who connects.
    pub client: bool,
    /// Whether it is for who is connected to.
    pub server: bool,
    /// Whether it is an authority.
    pub signing: bool,
}

impl Wanted<'_> {
    /// Whether it is for clients, and whether for servers: without a word of either, for both.
    pub(super) fn uses(&self) -> (bool, bool) {
        let unsaid = !self.client && !self.server;
        (self.client || unsaid, self.server || unsaid)
    }

    /// The first host that no certificate can be for.
    pub fn bad_host(&self) -> Option<&str> {
        let hosts = self.hosts.iter().map(|host| host.trim());
        let fits = |host: &str| {
            let plain = host.chars().all(|c| c.is_ascii_graphic());
            !host.is_empty() && host.len() <= LONGEST && plain
        };
        hosts.into_iter().find(|host| !fits(host))
    }

    /// The names that it has, an address both as a name and, after `IP`, as an address: peers of the replaced implementation look for it among names.
    pub(super) fn names(&self) -> BTreeSet<String> {
        let hosts = self.hosts.iter().map(|host| host.trim());
        let both = hosts.flat_map(|host| {
            let address: Option<IpAddr> = host.parse().ok();
            let address = address.map(|address| format!("IP {address}"));
            [Some(host.to_owned()), address].into_iter().flatten()
        });
        both.collect()
    }

    /// The site that it is of.
    pub(super) fn site(&self) -> Option<String> {
        let site = self.site.or(is_uid(self.subject).then_some(self.subject));
        site.map(|site| format!("{SITE_URI}{site}"))
    }
}

/// Whether a text has the form of a uid: `8-4-4-4-12` hexadecimal digits.
fn is_uid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    let digits = text.chars().all(|c| c == '-' || c.is_ascii_hexdigit());
    digits && lengths.eq([8, 4, 4, 4, 12])
}
