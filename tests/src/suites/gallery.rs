//! The suites of lifecycles that operators of others have, said in the language.

use kube::CustomResourceExt;
use lifecycle_suite::resources::{Site, Suite};
use serde_json::{Value, json};

use crate::lifecycles::account::{self, Account, Logins};
use crate::lifecycles::autoscaler::{self, Autoscaler, ByLoad, Meters};
use crate::lifecycles::certificate::{self, Certificate, Issuer, Signed, SigningRequest};
use crate::lifecycles::database::{self, Backup, Database, Engine};
use crate::lifecycles::dns::{self, AtProvider, Dns, DnsRecord, Zone};
use crate::lifecycles::leaf::{self, Leaf, Signing};
use crate::lifecycles::login::{self, Kept, Login};
use crate::lifecycles::machine::{self, InCluster, InfraMachine, Machine, Nodes, OtherCluster};
use crate::lifecycles::quota::{self, Counted, Quota};
use crate::lifecycles::tenant::{self, Teams, Tenant};

/// The suite of a count of what a namespace has.
pub fn quota() -> Suite {
    Suite::of(|| quota::machine(Counted))
        .define(&Quota::crd())
        .fixtures(include_str!("../../fixtures/quota/quota.yaml"))
        .fixtures(include_str!("../../fixtures/quota/used.yaml"))
}

/// The suite of a login whose Secret may stay, and may have been there before.
pub fn account() -> Suite {
    Suite::of(|| account::machine(Logins))
        .define(&Account::crd())
        .fixtures(include_str!("../../fixtures/account/account.yaml"))
}

/// The suite of a team and its namespaces.
pub fn tenant() -> Suite {
    Suite::of(|| tenant::machine(Teams))
        .define(&Tenant::crd())
        .fixtures(include_str!("../../fixtures/tenant/tenant.yaml"))
        .fixtures(include_str!("../../fixtures/tenant/secret.yaml"))
}

/// The suite of a password that is made by chance and copied.
pub fn login() -> Suite {
    Suite::of(|| login::machine(Kept))
        .define(&Login::crd())
        .fixtures(include_str!("../../fixtures/login/login.yaml"))
}

/// The suite of a certificate that is made here and signed by an authority of the namespace.
pub fn leaf() -> Suite {
    Suite::of(|| leaf::machine(Signing))
        .define(&Leaf::crd())
        .fixtures(include_str!("../../fixtures/leaf/leaf.yaml"))
        .fixtures(include_str!("../../fixtures/leaf/authority.yaml"))
}

/// The suite of a name at a DNS provider.
pub fn dns() -> Suite {
    let machine = |provider: Dns, line| dns::machine(AtProvider(provider.on(line)));
    Suite::outside(Dns::default, machine)
        .define(&DnsRecord::crd())
        .define(&Zone::crd())
        .fixtures(include_str!("../../fixtures/dns/dnsrecord.yaml"))
        .fixtures(include_str!("../../fixtures/dns/zone.yaml"))
}

/// The suite of what sets the replicas of a workload.
pub fn autoscaler() -> Suite {
    let machine = |meters: Meters, line| autoscaler::machine(ByLoad(meters.on(line)));
    Suite::outside(Meters::default, machine)
        .define(&Autoscaler::crd())
        .fixtures(include_str!("../../fixtures/autoscaler/autoscaler.yaml"))
        .fixtures(include_str!("../../fixtures/autoscaler/deployment.yaml"))
}

/// The suite of a certificate that an issuer signs.
pub fn certificate() -> Suite {
    let answers = |fields: fn() -> Value| move |site: Site| answers(site, fields());
    Suite::of(|| certificate::machine(Signed))
        .define(&Certificate::crd())
        .define(&Issuer::crd())
        .define(&SigningRequest::crd())
        .fixtures(include_str!("../../fixtures/certificate/certificate.yaml"))
        .fixtures(include_str!("../../fixtures/certificate/issuer.yaml"))
        .promise("answers", answers(|| json!({ "certificate": "signed" })))
        .promise(
            "answers",
            answers(|| json!({ "denied": "the host is not yours" })),
        )
        .promise("answers", answers(|| json!({ "failed": "out of paper" })))
}

/// The suite of a machine that is taken down in order.
pub fn machine() -> Suite {
    let machine = |other: OtherCluster, line| machine::machine(InCluster(other.on(line)));
    let boots = |status: fn() -> Value| move |site: Site| settles(site, INFRA, status());
    Suite::outside(OtherCluster::default, machine)
        .define(&Machine::crd())
        .define(&InfraMachine::crd())
        .fixtures(include_str!("../../fixtures/machine/machine.yaml"))
        .fixtures(include_str!("../../fixtures/machine/configmap.yaml"))
        .promise("boots", boots(|| json!({ "booted": true })))
        .promise("boots", boots(|| json!({ "failed": "no such image" })))
        .promise("joins", |site| moves_on(site, Nodes::join))
        .promise("leaves", |site| moves_on(site, Nodes::leave))
}

const INFRA: (&str, &str) = ("/apis/machines.tests/v1", "inframachines");
const BACKUP: (&str, &str) = ("/apis/databases.tests/v1", "backups");

/// The suite of a database of which a last backup is made.
pub fn database() -> Suite {
    let ends = |status: fn() -> Value| move |site: Site| settles(site, BACKUP, status());
    Suite::of(|| database::machine(database::Kept))
        .define(&Database::crd())
        .define(&Engine::crd())
        .define(&Backup::crd())
        .fixtures(include_str!("../../fixtures/database/database.yaml"))
        .fixtures(include_str!("../../fixtures/database/secret.yaml"))
        .promise("ends", ends(|| json!({ "saved": true })))
        .promise("ends", ends(|| json!({ "failed": "the store is full" })))
}

/// Something happens to the node of a Machine.
async fn moves_on(site: Site, change: fn(&mut Nodes, &str)) -> kube::Result<bool> {
    let uid = site.object["metadata"]["uid"].as_str().unwrap_or_default();
    let changed = |nodes: &mut Nodes| {
        let before = nodes.clone();
        change(nodes, uid);
        *nodes != before
    };
    let other = site.outside::<OtherCluster>();
    Ok(other.is_some_and(|other| other.with(changed)))
}

/// Who makes the object of this name says how it ended, if nobody did.
async fn settles(site: Site, of: (&str, &str), status: Value) -> kube::Result<bool> {
    let name = site.object["metadata"]["name"].as_str().unwrap_or_default();
    let path = site.beside(of.0, of.1, name);
    site.edit(&path, |object| {
        if object.get("status").is_none() {
            object["status"] = status;
        }
    })
    .await
}

/// The Issuer answers what is asked now.
async fn answers(site: Site, fields: Value) -> kube::Result<bool> {
    let Ok(this) = serde_json::from_value::<Certificate>((*site.object).clone()) else {
        return Ok(false);
    };
    let secret = site.beside("/api/v1", "secrets", &this.spec.secret);
    let secret = site.get(&secret).await?;
    let secret = secret.and_then(|s| serde_json::from_value(s).ok());
    let name = certificate::next(lifecycle_runtime::This::of(&this), secret.as_ref());
    let path = site.beside("/apis/certificates.tests/v1", "signingrequests", &name);
    site.edit(&path, |request| {
        if request.get("status").is_none() {
            request["status"] = fields;
        }
    })
    .await
}
