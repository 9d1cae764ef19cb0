//! Requested content of a certificate. Independent of existing certificates.

use std::collections::BTreeSet;
use std::net::IpAddr;

use lifecycle_router::link::security::SITE_URI;

/// As long as a name of a certificate may be here.
const LONGEST: usize = 253;

/// Requested content of a certificate.
#[derive(Clone, Debug, Default)]
pub struct CertificateRequest<'a> {
    /// The common name.
    pub subject: &'a str,
    /// Site of the certificate; if absent, the subject is the uid of the site.
    pub site: Option<&'a str>,
    /// Names and addresses.
    pub hosts: Vec<&'a str>,
    /// True if it is for the side that connects.
    pub client: bool,
    /// True if it is for the side that accepts connections.
    pub server: bool,
    /// True if it is for an authority.
    pub signing: bool,
}

impl CertificateRequest<'_> {
    /// Returns the use by clients and the use by servers. If neither is requested, the certificate
    /// is for both.
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

/// Returns true if a text has the form of a uid: `8-4-4-4-12` hexadecimal digits.
fn is_uid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    let digits = text.chars().all(|c| c == '-' || c.is_ascii_hexdigit());
    digits && lengths.eq([8, 4, 4, 4, 12])
}
