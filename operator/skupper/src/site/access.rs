//! Access of other sites to a Site: its own RouterAccess beside those of other owners, and the
//! authority that signs for them. Pure.

use kube::ResourceExt;
use lifecycle_runtime::{Desired, This};
use lifecycle_specs_skupper::certificate::Certificate;
use lifecycle_specs_skupper::router::{ROUTER, SITE_CA, SITE_SERVER};
use lifecycle_specs_skupper::router_access::RouterAccess;
use lifecycle_specs_skupper::site::{Site, SiteSpec};
use serde_json::{Value, json};

use crate::config::service::CONTROLLED;
use crate::config::validity;
use crate::settings::named;

/// Returns the name of the Secret with the authority that signs for a Site by default.
pub fn issuer(spec: &SiteSpec) -> &str {
    named(spec.default_issuer.as_ref()).unwrap_or(SITE_CA)
}

/// The authority of other sites.
pub(super) fn site_authority(name: &str) -> Desired<Certificate> {
    Desired::from_json(json!({
        "metadata": { "name": SITE_CA, "annotations": { CONTROLLED: "true" } },
        "spec": { "ca": SITE_CA, "subject": format!("{name} site CA"), "signing": true },
    }))
}

/// The RouterAccess of a Site that others are to link to.
pub(super) fn own_access(this: This<'_, Site>) -> Value {
    let spec = this.spec;
    let mut wanted = json!({
        "roles": [{ "name": "inter-router", "port": 55671 }, { "name": "edge", "port": 45671 }],
        "tlsCredentials": SITE_SERVER, "generateTlsCredentials": true, "issuer": issuer(spec),
    });
    if let Some(access_type) = validity::access(spec).filter(|access| *access != "default") {
        wanted["accessType"] = access_type.into();
    }
    json!({
        "metadata": { "name": ROUTER, "annotations": { CONTROLLED: "true" } },
        "spec": wanted,
    })
}

/// The RouterAccesses that the router serves: those of others as they are, and its own as it is meant. So writing that one changes no configuration.
pub(super) fn served<'a>(
    this: This<'_, Site>,
    own: Option<&'a RouterAccess>,
    known: &[&'a RouterAccess],
) -> Vec<&'a RouterAccess> {
    let owned = |access: &RouterAccess| {
        let mut owners = access.owner_references().iter();
        owners.any(|owner| owner.uid == uid(this))
    };
    let others = known.iter().copied().filter(|access| !owned(access));
    let mut all: Vec<&RouterAccess> = others.collect();
    let is_free = all.iter().all(|access| access.name_any() != ROUTER);
    all.extend(own.filter(|_| is_free));
    all
}

/// The uid of a Site; empty if it has none.
pub(super) fn uid<'a>(this: This<'a, Site>) -> &'a str {
    this.meta.uid.as_deref().unwrap_or_default()
}
