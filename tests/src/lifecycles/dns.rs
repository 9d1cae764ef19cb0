//! A name in a zone of a DNS provider. It has a record of the promised name, a poll of two keys,
//! calls, and a mark of its owner.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kube::CustomResource;
use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::{CallError, Once};
use lifecycle_runtime::{Because, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::provider::{Provider, ProviderState};

/// Desired state of a DnsRecord.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "dns.tests",
    version = "v1",
    kind = "DnsRecord",
    namespaced,
    status = "DnsRecordStatus"
)]
pub struct DnsRecordSpec {
    /// The Zone that it is in.
    pub zone: String,
    /// Its name there.
    pub name: String,
    /// Address to which the name resolves.
    pub address: String,
}

/// Observed state of a DnsRecord.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct DnsRecordStatus {
    /// Published, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
    /// Its whole name.
    #[serde(default)]
    pub fqdn: Option<String>,
}

/// A part of the name space that a provider serves.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(group = "dns.tests", version = "v1", kind = "Zone", namespaced)]
#[serde(rename_all = "camelCase")]
pub struct ZoneSpec {
    /// Under which everything in it is.
    pub domain: String,
    /// Name of the Secret with the credentials.
    pub token_secret: String,
}

/// State of a name, as the provider reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryInfo {
    /// Owner of the name, if it exists.
    pub owner: Option<String>,
    /// Address to which the name resolves.
    pub address: String,
}

/// All names of a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entries(pub BTreeMap<String, EntryInfo>);

/// A provider outside the cluster.
pub type Dns = Provider<Entries>;

include!("../../../macros/core/tests/lifecycles/dns.txt");

/// Owner of names that are not ours.
const SOMEBODY: &str = "somebody";

impl ProviderState for Entries {
    fn leftovers(&self) -> Vec<String> {
        let ours = self.0.iter().filter_map(|(name, entry)| {
            let owner = entry.owner.as_deref().filter(|o| *o != SOMEBODY)?;
            Some(format!("the name {name} of {owner}"))
        });
        ours.collect()
    }

    const MEDDLINGS: &[&str] = &["lose all names", "lead elsewhere", "take them all"];

    fn perturb(&mut self, what: &str) {
        match what {
            "lose all names" => self.0.clear(),
            "lead elsewhere" => self
                .0
                .values_mut()
                .for_each(|entry| "192.0.2.9".clone_into(&mut entry.address)),
            _ => {
                let taken = EntryInfo {
                    owner: Some(SOMEBODY.to_owned()),
                    address: "192.0.2.9".to_owned(),
                };
                self.0.insert("www.example.org".to_owned(), taken.clone());
                self.0.values_mut().for_each(|entry| *entry = taken.clone());
            }
        }
    }
}

/// The logic of a DnsRecord: where its provider is.
pub struct AtProvider(pub Dns);

fn uid(meta: &ObjectMeta) -> String {
    meta.uid.clone().unwrap_or_default()
}

impl DnsRecordLogic for AtProvider {
    async fn poll_live(
        &self,
        _: This<'_, DnsRecord>,
        handle: &String,
        _: Option<&Secret>,
    ) -> Result<EntryInfo, CallError> {
        let look = |all: &mut Entries| Ok(all.0.get(handle).cloned().unwrap_or_default());
        self.0.query(&format!("look at {handle}"), look).await
    }

    fn served(&self, _: This<'_, DnsRecord>, zone: &Zone) -> Because<bool> {
        let domain = &zone.spec.domain;
        match domain.ends_with(".org") {
            true => Because::plain(true),
            false => Because::new(
                false,
                format!("{domain} is not served here: choose another zone"),
            ),
        }
    }

    fn entry(&self, this: This<'_, DnsRecord>, live: &EntryInfo) -> Because<Entry> {
        match &live.owner {
            None => Because::new(Entry::No, "the provider has no such name"),
            Some(owner) if *owner != uid(this.meta) => Because::new(
                Entry::Taken,
                "the name belongs to somebody else: choose another one",
            ),
            Some(_) if live.address != this.spec.address => {
                Because::new(Entry::Stale, "it leads to another address")
            }
            Some(_) => Because::plain(Entry::Current),
        }
    }

    async fn remove(&self, at: Remove<'_>, once: Once<'_>) -> Outcome<RemoveResult> {
        let (key, owner) = (once.key().to_owned(), uid(at.this.meta));
        let operation = move |all: &mut Entries| {
            let is_ours = |entry: &EntryInfo| entry.owner.as_ref() == Some(&owner);
            if all.0.get(&key).is_some_and(is_ours) {
                all.0.remove(&key);
            }
            Ok(RemoveResult::No)
        };
        let what = format!("remove {}", once.key());
        once.spend(self.0.mutate(&what, operation)).await
    }

    fn apply_handle(&self, at: ApplyHandle<'_>) -> String {
        format!("{}.{}", at.this.spec.name, at.zone.spec.domain)
    }

    async fn put(&self, at: Put<'_>, once: Once<'_>) -> Outcome<PutResult> {
        let (key, owner) = (once.key().to_owned(), uid(at.this.meta));
        let address = at.this.spec.address.clone();
        let opens = at
            .token
            .data
            .iter()
            .flatten()
            .any(|(name, value)| name == "token" && value.0 == b"right");
        let operation = move |all: &mut Entries| {
            if !opens {
                let said = "the token does not open this zone: correct the Secret".to_owned();
                return Err(CallError::Refused(said));
            }
            let found = all.0.entry(key).or_default();
            if found.owner.as_ref().is_some_and(|o| *o != owner) {
                return Ok(PutResult::Taken);
            }
            *found = EntryInfo {
                owner: Some(owner),
                address,
            };
            Ok(PutResult::Current)
        };
        let what = format!("put {}", once.key());
        once.spend(self.0.mutate(&what, operation)).await
    }

    fn fqdn(&self, _: This<'_, DnsRecord>, handle: &String) -> Option<String> {
        Some(handle.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_ours_by_the_mark_beside_it() {
        let check = |owner: Option<&str>, address: &str, expected: Entry| {
            let spec = DnsRecordSpec {
                address: "192.0.2.1".to_owned(),
                ..DnsRecordSpec::default()
            };
            let mut record = DnsRecord::new("r", spec);
            record.metadata.uid = Some("u".to_owned());
            let info = EntryInfo {
                owner: owner.map(str::to_owned),
                address: address.to_owned(),
            };
            let said = AtProvider(Dns::default()).entry(This::new(&record), &info);
            assert_eq!(said.value, expected);
        };
        check(None, "", Entry::No);
        check(Some("other"), "192.0.2.1", Entry::Taken);
        check(Some("u"), "192.0.2.2", Entry::Stale);
        check(Some("u"), "192.0.2.1", Entry::Current);
    }
}
