//! The ports at which routers of the sandbox accept links. Other sites know them by number, so free
//! ports cannot be used instead: the sandbox checks them before anything starts. Other ports are
//! opened by their listeners, and the status of those objects reports the result.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};

use lifecycle_cli::cluster::manifests::Manifest;
use lifecycle_skupper::config::document::{ROLES, roles};
use lifecycle_skupper::config::validity;
use lifecycle_skupper::data_plane::DataPlane;
use lifecycle_skupper::platform::Platform;
use lifecycle_skupper::router::embedded::nth_address;
use lifecycle_skupper::settings::named;
use lifecycle_specs_skupper::router_access::RouterAccessSpec;
use lifecycle_specs_skupper::site::SiteSpec;
use serde::de::DeserializeOwned;
use thiserror::Error;

use super::followed::is_of_site;

/// Another program listens where a router of the sandbox is to accept links.
#[derive(Debug, Error, PartialEq, Eq)]
#[error(
    "port {port} of {address} is in use, where a router of the sandbox is to accept links (role {role} of {by}): end the program that has the port, \
     such as another sandbox, or choose other addresses with --local-address",
    port = .at.port(),
    address = .at.ip()
)]
pub(super) struct Taken {
    at: SocketAddr,
    role: String,
    by: String,
}

/// Port of a router that a manifest needs, whatever the listening address of that router is.
#[derive(Debug, PartialEq, Eq)]
struct LinkPort {
    port: u16,
    role: String,
    by: String,
}

/// Tries each port for links that the manifests need, at each address that a router of theirs may get.
///
/// # Errors
/// Another program listens there.
pub(super) fn check_free(first: IpAddr, manifests: &[Manifest]) -> Result<(), Taken> {
    let needed = needed(manifests);
    for address in addresses(first, manifests) {
        for LinkPort { port, role, by } in &needed {
            let at = SocketAddr::new(address, *port);
            if is_taken(at) {
                let (role, by) = (role.clone(), by.clone());
                return Err(Taken { at, role, by });
            }
        }
    }
    Ok(())
}

/// The addresses of the routers, one for each namespace with a Site: the router that starts first gets the first.
fn addresses(first: IpAddr, manifests: &[Manifest]) -> BTreeSet<IpAddr> {
    let sites = manifests.iter().filter(|one| is_of_site(one, "Site"));
    let namespaces: BTreeSet<String> = sites.map(Manifest::namespace).collect();
    let numbers = (0..=u8::MAX).take(namespaces.len());
    numbers.filter_map(|n| nth_address(first, n)).collect()
}

fn needed(manifests: &[Manifest]) -> Vec<LinkPort> {
    manifests.iter().flat_map(needed_by).collect()
}

fn needed_by(manifest: &Manifest) -> Vec<LinkPort> {
    let port = |(role, port): (&str, i64)| {
        Some(LinkPort {
            port: u16::try_from(port).ok()?,
            role: role.to_owned(),
            by: format!(
                "{} `{}/{}`",
                manifest.kind().kind,
                manifest.namespace(),
                manifest.name()
            ),
        })
    };
    if is_of_site(manifest, "Site") {
        let spec: SiteSpec = spec(manifest);
        let is_linked = validity::is_linked(Platform::Kubernetes, &spec);
        let is_linked = is_linked && spec.edge != Some(true);
        return ROLES
            .into_iter()
            .filter(|_| is_linked)
            .filter_map(port)
            .collect();
    }
    if is_of_site(manifest, "RouterAccess") {
        let spec: RouterAccessSpec = spec(manifest);
        // If the object sets a host, its status reports the error: no option of the sandbox
        // selects another.
        let is_ours = validity::is_served(&spec, DataPlane::Embedded)
            && named(spec.bind_host.as_ref()).is_none();
        return roles(&spec).filter(|_| is_ours).filter_map(port).collect();
    }
    Vec::new()
}

/// The spec of a manifest; the default where the cluster will refuse it.
fn spec<S: DeserializeOwned + Default>(manifest: &Manifest) -> S {
    serde_json::from_value(manifest.spec().clone()).unwrap_or_default()
}

/// Returns true if another program listens there. The router reports any other failure when it
/// opens the port.
fn is_taken(at: SocketAddr) -> bool {
    TcpListener::bind(at).is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn manifests(text: &str) -> Vec<Manifest> {
        Manifest::parse(Path::new("a.yaml"), text).unwrap()
    }

    fn object(kind: &str, namespace: &str, spec: &str) -> String {
        format!(
            "---\napiVersion: skupper.io/v2alpha1\nkind: {kind}\nmetadata: {{name: a, namespace: {namespace}}}\nspec: {spec}\n"
        )
    }

    #[test]
    fn only_who_accepts_links_at_the_address_of_the_router_needs_ports() {
        let check = |kind: &str, spec: &str, expected: &[(u16, &str)]| {
            let found = needed(&manifests(&object(kind, "west", spec)));
            let found: Vec<(u16, &str)> = found
                .iter()
                .map(|one| (one.port, one.role.as_str()))
                .collect();
            assert_eq!(found, expected, "{kind} {spec}");
        };
        let both = [(55671, "inter-router"), (45671, "edge")];
        check("Site", "{linkAccess: default}", &both);
        check("Site", "{}", &[]);
        check("Site", "{linkAccess: none}", &[]);
        check("Site", "{linkAccess: default, edge: true}", &[]);
        let access = |more: &str| format!("{{tlsCredentials: s{more}}}");
        let edge = access(", roles: [{name: edge}, {name: inter-router, port: 7}]");
        check(
            "RouterAccess",
            &edge,
            &[(45671, "edge"), (7, "inter-router")],
        );
        let bound = access(", roles: [{name: edge}], bindHost: 127.0.0.9");
        check("RouterAccess", &bound, &[]);
        check("RouterAccess", &access(""), &[]);
        check("RouterAccess", "[]", &[]);
        check("Listener", "{host: a, port: 55671}", &[]);
    }

    #[test]
    fn each_namespace_with_a_site_has_an_address() {
        let first = IpAddr::from([127, 0, 0, 255]);
        let sites = ["west", "east", "west"].map(|one| object("Site", one, "{}"));
        let found = addresses(first, &manifests(&sites.concat()));
        assert!(found.into_iter().eq([first, IpAddr::from([127, 0, 1, 0])]));
        assert!(addresses(first, &[]).is_empty());
    }
}
