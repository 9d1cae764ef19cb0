//! What all kinds of a namespace ask of their surroundings: which Site is theirs, and what its router says of their entries.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt;
use lifecycle_router::config;
use lifecycle_runtime::{Because, ObjectRef, This};
use lifecycle_specs::skupper::router::{Does, ROUTER, RouterState};
use lifecycle_specs::skupper::site::Site;

use super::document::{self, Entry, Identity};

/// The Site of a namespace that counts, of those that stay: the one whose table is there, and else the one that was there first. Ages are whole
/// seconds, so of two that are made at once either may look older; whoever has begun stays.
pub fn active<'a>(sites: &[&'a Site], table: Option<&ConfigMap>) -> Option<&'a Site> {
    let owners = table.map_or(&[][..], |table| table.owner_references());
    let staying = sites
        .iter()
        .filter(|s| s.metadata.deletion_timestamp.is_none());
    let has_begun = |site: &Site| {
        let uid = site.metadata.uid.as_ref();
        owners.iter().any(|owner| Some(&owner.uid) == uid)
    };
    let first = staying.min_by_key(|site| (!has_begun(site), age(&site.metadata)));
    first.copied()
}

fn age(meta: &ObjectMeta) -> (Timestamp, Option<&str>) {
    let created = meta.creation_timestamp.as_ref().map(|at| at.0);
    (created.unwrap_or(Timestamp::MAX), meta.uid.as_deref())
}

/// A reference to it.
pub fn home(sites: &[&Site], table: Option<&ConfigMap>) -> Option<ObjectRef> {
    active(sites, table).map(ObjectRef::to)
}

/// Where the Site of a namespace keeps what it has decided.
pub fn table(meta: &ObjectMeta) -> ObjectRef {
    ObjectRef::of::<ConfigMap>(meta.namespace.as_deref(), ROUTER)
}

/// How a Site is named in the configuration of its router.
pub fn identity(site: &Site) -> Identity<'_> {
    identity_of(This::of(site))
}

/// The same, of the Site that is looked at.
pub fn identity_of(site: This<'_, Site>) -> Identity<'_> {
    Identity {
        name: site.meta.name.as_deref().unwrap_or_default(),
        uid: site.meta.uid.as_deref().unwrap_or_default(),
        edge: site.spec.edge == Some(true),
        version: env!("CARGO_PKG_VERSION"),
    }
}

/// Whether one of the router's Pods can be asked.
pub fn running(routers: &[&Pod]) -> Because<bool> {
    let address = |pod: &&Pod| pod.status.as_ref()?.pod_ip.clone();
    match routers.iter().find_map(address) {
        Some(_) => Because::plain(true),
        None => Because::new(false, "no Pod of the router has an address yet"),
    }
}

/// What a router makes of the entries of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carried {
    /// It carries others out.
    Not,
    /// All wait, rightly.
    Idle,
    /// All do what they should.
    Up,
    /// One cannot, because of this.
    Failed(String),
}

/// What a router makes of these entries.
pub fn carried(entries: &[Entry], report: &RouterState) -> Carried {
    let mut carried = Carried::Up;
    for entry in entries {
        let told = report.entries.get(&document::key(entry));
        let Some(told) = told.filter(|told| told.hash == config::hash(&entry.1)) else {
            return Carried::Not;
        };
        match (&told.does, &carried) {
            (Does::Failed(why), Carried::Idle | Carried::Up | Carried::Not) => {
                carried = Carried::Failed(why.clone());
            }
            (Does::Idle, Carried::Up) => carried = Carried::Idle,
            (Does::Failed(_) | Does::Idle | Does::Up, _) => {}
        }
    }
    carried
}

/// Why a router carries something else out.
pub fn behind(report: &RouterState) -> String {
    match &report.error {
        Some(error) => format!("the router cannot read its configuration: {error}"),
        None => "the router has not read its newest configuration yet".to_owned(),
    }
}
