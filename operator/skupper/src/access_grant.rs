//! Reconciliation of an AccessGrant: it makes the code, and reports the address for redemption. The
//! grant server hands out the content of the grant.

use std::collections::BTreeSet;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use lifecycle_runtime::lifecycle::{Random, Timed};
use lifecycle_runtime::{Because, ObjectRef, Readable, This, cause};
use lifecycle_specs_skupper::access_grant::{
    AccessGrant, AccessGrantLogic, ApplyKept, Door, GrantCode, Validity,
};
use lifecycle_specs_skupper::fragments::Overseen;
use lifecycle_specs_skupper::site::Site;

use crate::config::router_config;
use crate::grants::redemptions::Redemptions;
use crate::grants::server::pair;
use crate::grants::{answer, service, terms};
use crate::namespace::active_site;
use crate::namespace::controller_id::ControllerId;
use crate::pki::issue::Authority;
use crate::platform::Platform;
use crate::settings::named;

/// Characters of codes: only those that cannot be mistaken for another one.
const LETTERS: &str = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
/// How long a code is.
const LENGTH: usize = 24;

/// Prefix of the message of a grant whose site has no reachable endpoint.
const CLOSED: &str = "No valid endpoints found for site";

/// Reconciles AccessGrants.
#[derive(Clone, Debug)]
pub struct Grants {
    /// This controller, which runs the grant server.
    pub controller_id: ControllerId,
    /// Platform of its sites.
    pub platform: Platform,
}

/// Returns the reason why a Site that accepts links is not reachable yet, from its status.
fn unresolved(site: &Site) -> Option<&str> {
    let status = site.status.as_ref()?;
    let mut conditions = status.common.conditions.iter().flatten();
    let resolved = conditions.find(|c| c.type_ == "Resolved" && c.status == "False")?;
    Some(resolved.message.as_str()).filter(|message| !message.is_empty())
}

impl Grants {
    fn home<K>(&self, name: &str) -> BTreeSet<ObjectRef>
    where
        K: kube::Resource<DynamicType = ()>,
    {
        let home = self.controller_id.namespace();
        BTreeSet::from([ObjectRef::new::<K>(Some(home), name)])
    }
}

/// How often it was redeemed; absent if the record is lost.
fn redeemed(this: This<'_, AccessGrant>, former: &[&AccessGrant]) -> Option<u64> {
    let status = former.first().and_then(|grant| grant.status.as_ref());
    Some(Redemptions::from_grant(this.meta, status)?.count)
}

/// Returns the code to keep: if none is known, the one in the status of another controller, else
/// the generated one.
fn choose_code<'a>(known: &GrantCode, former: &[&'a AccessGrant], made: &'a str) -> &'a str {
    let status = former.first().and_then(|grant| grant.status.as_ref());
    let told = status.and_then(|status| named(status.code.as_ref()));
    told.filter(|_| known.0.is_none()).unwrap_or(made)
}

impl AccessGrantLogic for Grants {
    fn overseen(&self) -> &impl Overseen<AccessGrant> {
        &self.controller_id
    }

    fn router_config(&self, this: This<'_, AccessGrant>) -> Option<ObjectRef> {
        Some(router_config::reference(this.meta))
    }

    fn site(
        &self,
        _: This<'_, AccessGrant>,
        sites: &[&Readable<Site>],
        router_config: Option<&ConfigMap>,
    ) -> Option<ObjectRef> {
        active_site::reference(sites, router_config)
    }

    fn issuer(&self, this: This<'_, AccessGrant>, site: Option<&Site>) -> BTreeSet<ObjectRef> {
        let Some(site) = site else {
            return BTreeSet::new();
        };
        let namespace = this.meta.namespace.as_deref();
        let name = terms::issuer(this.spec, site);
        BTreeSet::from([ObjectRef::new::<Secret>(namespace, name)])
    }

    fn server(&self, _: This<'_, AccessGrant>, _: Option<&ConfigMap>) -> BTreeSet<ObjectRef> {
        self.home::<Service>(service::SERVICE)
    }

    fn authority(&self, _: This<'_, AccessGrant>, _: Option<&ConfigMap>) -> BTreeSet<ObjectRef> {
        self.home::<Secret>(service::AUTHORITY)
    }

    fn former(&self, this: This<'_, AccessGrant>, _: &[&Readable<Site>]) -> BTreeSet<ObjectRef> {
        let name = this.meta.name.as_deref().unwrap_or_default();
        let own = ObjectRef::new::<AccessGrant>(this.meta.namespace.as_deref(), name);
        BTreeSet::from([own])
    }

    fn validity(&self, this: This<'_, AccessGrant>) -> Because<Validity> {
        let validity = terms::validity(this.spec);
        if validity.value == Validity::Fine && Redemptions::from_grant(this.meta, None).is_none() {
            let sentence = "the record of its redemptions is lost, so it cannot be redeemed: delete this AccessGrant, and create it again";
            return Because::new(Validity::Forgotten, sentence);
        }
        validity
    }

    fn said(&self, this: This<'_, AccessGrant>) -> Because<bool> {
        Because::plain(terms::declared_code(this.spec).is_some())
    }

    fn used(&self, this: This<'_, AccessGrant>, former: &[&AccessGrant]) -> Because<bool> {
        let count = redeemed(this, former);
        let used = count.is_some_and(|count| count >= terms::allowed(this.spec));
        Because::plain(used)
    }

    fn over(&self, this: This<'_, AccessGrant>, now: &Timestamp) -> Timed<bool> {
        let Some(until) = terms::expires(this.meta, this.spec) else {
            return Because::plain(false).for_good();
        };
        if *now < until {
            return Because::plain(false).until(until);
        }
        let sentence = format!(
            "it expired at {until}: create another AccessGrant, or set a longer spec.expirationWindow"
        );
        Because::new(true, sentence).for_good()
    }

    fn door(&self, _: This<'_, AccessGrant>, site: &Site) -> Because<Door> {
        if site.spec.edge == Some(true) {
            return Because::plain(Door::Edge);
        }
        let endpoints = site.status.as_ref().and_then(|s| s.endpoints.as_deref());
        if answer::groups(endpoints.unwrap_or_default()).is_empty() {
            let name = site.metadata.name.as_deref().unwrap_or_default();
            let sentence = match unresolved(site) {
                Some(why) => format!("{CLOSED}: Site {name} waits: {why}"),
                None => format!(
                    "{CLOSED}: set spec.linkAccess of Site {name}; if it is set, see its status for what is missing"
                ),
            };
            return Because::new(Door::Closed, sentence);
        }
        Because::plain(Door::Open)
    }

    fn signs(&self, this: This<'_, AccessGrant>, site: &Site, issuer: &[&Secret]) -> Because<bool> {
        let name = terms::issuer(this.spec, site);
        let Some(secret) = issuer.first() else {
            let sentence = format!(
                "Secret {name} of the authority that is to sign not found: create it, or a Certificate of that name with `signing`, or name another one in spec.issuer"
            );
            return Because::new(false, sentence);
        };
        let read = pair(secret).map(|(certificate, key)| {
            // The grant server decides when it ends.
            Authority::read(&certificate, &key).map(drop)
        });
        match read {
            Some(Ok(())) => Because::plain(true),
            Some(Err(why)) => Because::new(
                false,
                format!("Secret {name} cannot sign: {}", cause::in_one_line(&why)),
            ),
            None => Because::new(
                false,
                format!("Secret {name} cannot sign: it has no tls.crt or no tls.key"),
            ),
        }
    }

    fn reached(
        &self,
        _: This<'_, AccessGrant>,
        server: &[&Service],
        authority: &[&Secret],
    ) -> Because<bool> {
        let (server, authority) = (server.first().copied(), authority.first().copied());
        let home = self.controller_id.namespace();
        match (self.platform, server) {
            (Platform::Linux, None) => Because::new(
                false,
                "this site has no grant server: start it with --grant-server-address",
            ),
            (Platform::Kubernetes | Platform::Linux, _) => {
                service::reached(server, authority, home)
            }
        }
    }

    fn known(&self, this: This<'_, AccessGrant>, kept: Option<&String>) -> GrantCode {
        let said = terms::declared_code(this.spec).map(str::to_owned);
        GrantCode(said.or_else(|| kept.cloned()))
    }

    fn read_made(&self, _: This<'_, AccessGrant>, kept: &String) -> Option<String> {
        (!kept.is_empty()).then(|| kept.clone())
    }

    fn make_made(&self, _: This<'_, AccessGrant>, random: &mut Random) -> String {
        random.text(LENGTH, LETTERS)
    }

    fn apply_kept(&self, at: ApplyKept<'_>) -> String {
        choose_code(at.known, &at.former, at.made).to_owned()
    }

    fn url(&self, this: This<'_, AccessGrant>, server: &[&Service]) -> Option<String> {
        let address = service::address(server.first().copied())?;
        let uid = this.meta.uid.as_deref()?;
        Some(format!("https://{address}/{uid}"))
    }

    fn code(&self, _: This<'_, AccessGrant>, known: &GrantCode) -> Option<String> {
        known.0.clone()
    }

    fn ca(&self, _: This<'_, AccessGrant>, authority: &[&Secret]) -> Option<String> {
        service::certificate(authority.first().copied())
    }

    fn redemptions(&self, this: This<'_, AccessGrant>, former: &[&AccessGrant]) -> Option<i64> {
        let count = redeemed(this, former)?;
        (count > 0).then(|| i64::try_from(count).unwrap_or(i64::MAX))
    }

    fn expiration_time(
        &self,
        this: This<'_, AccessGrant>,
        _: &[&Readable<Site>],
    ) -> Option<String> {
        terms::expires(this.meta, this.spec).map(|until| until.to_string())
    }
}

#[cfg(test)]
mod tests;
