//! Suites of lifecycles from the operators of other projects, expressed in the language.

use k8s_openapi::api::core::v1::{Pod, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::CustomResourceExt;
use lifecycle_runtime::provider::Limit;
use lifecycle_suite::resources::{Site, Suite};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::sketches::migrates;
use crate::lifecycles::account::{self, Account, Logins};
use crate::lifecycles::app::{self, App, Migrations};
use crate::lifecycles::autoscaler::{self, Autoscaler, ByLoad, Meters};
use crate::lifecycles::certificate::{self, Certificate, Issuer, Signed, SigningRequest};
use crate::lifecycles::database::{self, Backup, Database, Engine};
use crate::lifecycles::dns::{self, AtProvider, Dns, DnsRecord, Zone};
use crate::lifecycles::httproute::{
    self, Gateway, GatewayClass, HttpRoute, Proxies, ReferenceGrant, ThroughProxies,
};
use crate::lifecycles::issuer::{self, AtAuthority, Authority, ClusterIssuer};
use crate::lifecycles::leaf::{self, Leaf, Signing};
use crate::lifecycles::lodge::{self, Lodge};
use crate::lifecycles::login::{self, Login, LoginOperator};
use crate::lifecycles::machine::{self, InCluster, InfraMachine, Machine, Nodes, OtherCluster};
use crate::lifecycles::managed_bucket::{self, Cloud, InAccount, ManagedBucket, ProviderConfig};
use crate::lifecycles::postgres::{self, Cluster, Databases, InDatabases, Instances};
use crate::lifecycles::quota::{self, Counted, Quota};
use crate::lifecycles::tenant::{self, Teams, Tenant};
use crate::lifecycles::workload::{self, Ingress, Revision, Shares, Workload};

/// Returns the suite of a count of the objects in a namespace.
pub fn quota() -> Suite {
    Suite::for_machine(|| quota::machine(Counted))
        .define(&Quota::crd())
        .fixtures(include_str!("../../fixtures/quota/quota.yaml"))
        .fixtures(include_str!("../../fixtures/quota/used.yaml"))
}

/// The suite of a lodge that an older version of it had, too.
pub fn lodge() -> Suite {
    Suite::for_machine(lodge::new)
        .define(&Lodge::crd())
        .fixtures(include_str!("../../fixtures/lodge/lodge.yaml"))
}

/// Returns the suite of a login whose Secret may stay, and may have existed before.
pub fn account() -> Suite {
    Suite::for_machine(|| account::machine(Logins))
        .define(&Account::crd())
        .fixtures(include_str!("../../fixtures/account/account.yaml"))
}

/// Returns the suite of a program whose database is migrated once per version.
pub fn app() -> Suite {
    Suite::for_machine(|| app::machine(Migrations))
        .define(&App::crd())
        .fixtures(include_str!("../../fixtures/app/app.yaml"))
        .promise("ends", |site| migrates(site, true))
        .promise("ends", |site| migrates(site, false))
}

/// The suite of a team and its namespaces.
pub fn tenant() -> Suite {
    Suite::for_machine(|| tenant::machine(Teams))
        .define(&Tenant::crd())
        .fixtures(include_str!("../../fixtures/tenant/tenant.yaml"))
        .fixtures(include_str!("../../fixtures/tenant/secret.yaml"))
}

/// The suite of a password that is made by chance and copied.
pub fn login() -> Suite {
    Suite::for_machine(|| login::machine(LoginOperator))
        .define(&Login::crd())
        .fixtures(include_str!("../../fixtures/login/login.yaml"))
}

/// The suite of who signs certificates in a cluster.
pub fn issuer() -> Suite {
    let machine = |authority: Authority, line| issuer::machine(AtAuthority(authority.on(line)));
    Suite::outside(Authority::default, machine)
        .define(&ClusterIssuer::crd())
        .define(&issuer::Certificate::crd())
        .fixtures(include_str!("../../fixtures/issuer/clusterissuer.yaml"))
        .fixtures(include_str!("../../fixtures/issuer/others.yaml"))
}

/// The suite of a certificate that is made here and signed by an authority of the namespace.
pub fn leaf() -> Suite {
    Suite::for_machine(|| leaf::machine(Signing))
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
        .provider("nameservers", Limit::new().in_flight(1).per_minute(60))
}

/// Returns the suite of an autoscaler that sets the replicas of a workload.
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
    Suite::for_machine(|| certificate::machine(Signed))
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

/// Returns the suite of a database with a last backup.
pub fn database() -> Suite {
    let ends = |status: fn() -> Value| move |site: Site| settles(site, BACKUP, status());
    Suite::for_machine(|| database::machine(database::DatabaseOperator))
        .define(&Database::crd())
        .define(&Engine::crd())
        .define(&Backup::crd())
        .fixtures(include_str!("../../fixtures/database/database.yaml"))
        .fixtures(include_str!("../../fixtures/database/secret.yaml"))
        .promise("ends", ends(|| json!({ "saved": true })))
        .promise("ends", ends(|| json!({ "failed": "the store is full" })))
}

/// The suite of a bucket of a cloud account, as its policies have it.
pub fn managed_bucket() -> Suite {
    let machine = |cloud: Cloud, line| managed_bucket::machine(InAccount(cloud.on(line)));
    Suite::outside(Cloud::default, machine)
        .define(&ManagedBucket::crd())
        .define(&ProviderConfig::crd())
        .fixtures(include_str!(
            "../../fixtures/managed_bucket/managedbucket.yaml"
        ))
        .fixtures(include_str!(
            "../../fixtures/managed_bucket/providerconfig.yaml"
        ))
}

/// The suite of a primary and its replicas.
pub fn postgres() -> Suite {
    let machine = |all: Databases, line| postgres::machine(InDatabases(all.on(line)));
    let fails = |instances: &mut Instances, _: &_, primary: &str| {
        let one = instances.0.get_mut(primary);
        one.is_some_and(|one| !std::mem::replace(&mut one.failed, true))
    };
    let promote =
        |instances: &mut Instances, pods: &Pods, primary: &str| instances.promote(pods, primary);
    let join =
        |instances: &mut Instances, pods: &Pods, primary: &str| instances.join(pods, primary);
    Suite::outside(Databases::default, machine)
        .define(&Cluster::crd())
        .fixtures(include_str!("../../fixtures/postgres/cluster.yaml"))
        .promise("leads", move |site| runs(site, promote))
        .promise("leads", move |site| runs(site, fails))
        .promise("joins", move |site| runs(site, join))
}

/// Names and uids of Pods.
type Pods = Vec<(String, String)>;

/// The instances of a Cluster do something, each with its Pod, and with the one that the Service of the Cluster leads to.
async fn runs(site: Site, change: fn(&mut Instances, &Pods, &str) -> bool) -> kube::Result<bool> {
    let pods: Vec<Pod> = all(&site, "/api/v1/pods").await?;
    let name_of = |pod: &Pod| {
        let labels = pod.metadata.labels.as_ref()?;
        let is_ours = labels.get(postgres::CLUSTER)? == site.name();
        is_ours.then_some((pod.metadata.name.clone()?, pod.metadata.uid.clone()?))
    };
    let pods: Pods = pods.iter().filter_map(name_of).collect();
    let service = site.sibling_path("/api/v1", "services", site.name());
    let service = site.get(&service).await?.unwrap_or_default();
    let Some(primary) = service["spec"]["selector"][postgres::INSTANCE].as_str() else {
        return Ok(false);
    };
    let databases = site.outside::<Databases>();
    let changed = |instances: &mut Instances| change(instances, &pods, primary);
    Ok(databases.is_some_and(|databases| databases.with_state(changed)))
}

/// The suite of a route of the Gateway API.
pub fn httproute() -> Suite {
    let machine = |proxies: Proxies, line| httproute::machine(ThroughProxies(proxies.on(line)));
    Suite::outside(Proxies::default, machine)
        .define(&HttpRoute::crd())
        .define(&Gateway::crd())
        .define(&GatewayClass::crd())
        .define(&ReferenceGrant::crd())
        .fixtures(include_str!("../../fixtures/httproute/httproute.yaml"))
        .fixtures(include_str!("../../fixtures/httproute/others.yaml"))
        .promise("follows", follows)
}

/// Makes the proxies follow the route, as their controller does.
async fn follows(site: Site) -> kube::Result<bool> {
    let gateways: Vec<Gateway> = all(&site, "/apis/gateways.tests/v1/gateways").await?;
    let classes: Vec<GatewayClass> = all(&site, "/apis/gateways.tests/v1/gatewayclasses").await?;
    let grants: Vec<ReferenceGrant> = all(&site, "/apis/gateways.tests/v1/referencegrants").await?;
    let services: Vec<Service> = all(&site, "/api/v1/services").await?;
    let slices: Vec<EndpointSlice> = all(&site, "/apis/discovery.k8s.io/v1/endpointslices").await?;
    let Ok(route) = serde_json::from_value::<HttpRoute>((*site.object).clone()) else {
        return Ok(false);
    };
    let is_parent = |gateway: &&Gateway| {
        let is_named = |parent: &httproute::Reference| {
            let namespace = parent.namespace.as_ref();
            let namespace = namespace.or(route.metadata.namespace.as_ref());
            gateway.metadata.name.as_ref() == Some(&parent.name)
                && gateway.metadata.namespace.as_ref() == namespace
        };
        route.spec.parents.iter().any(is_named)
    };
    let parents: Vec<&Gateway> = gateways.iter().filter(is_parent).collect();
    let classes: Vec<&GatewayClass> = classes.iter().collect();
    let (services, slices): (Vec<_>, Vec<_>) = (services.iter().collect(), slices.iter().collect());
    let backends = (&*services, &*slices, &*grants.iter().collect::<Vec<_>>());
    let this = lifecycle_runtime::This::new(&route);
    let wanted = httproute::desired_rules(this, &parents, &classes, backends);
    let uid = route.metadata.uid.clone().unwrap_or_default();
    let proxies = site.outside::<Proxies>();
    let load = |tables: &mut httproute::Tables| {
        tables.0.insert(uid, wanted.clone()).as_ref() != Some(&wanted)
    };
    Ok(proxies.is_some_and(|proxies| proxies.with_state(load)))
}

/// All objects that are listed under a path.
async fn all<K: DeserializeOwned>(site: &Site, path: &str) -> kube::Result<Vec<K>> {
    let list = site.get(path).await?.unwrap_or_default();
    let items = list["items"].as_array().cloned().unwrap_or_default();
    let items = items.into_iter().map(serde_json::from_value);
    items
        .collect::<Result<_, _>>()
        .map_err(kube::Error::SerdeError)
}

/// Returns the suite of a workload whose versions share its traffic.
pub fn workload() -> Suite {
    let deploys = |status: fn() -> Value| move |site: Site| deploys(site, status());
    Suite::for_machine(|| workload::machine(Shares))
        .define(&Workload::crd())
        .define(&Revision::crd())
        .define(&Ingress::crd())
        .fixtures(include_str!("../../fixtures/workload/workload.yaml"))
        .fixtures(include_str!("../../fixtures/workload/domain.yaml"))
        .promise("deploys", deploys(|| json!({ "ready": true })))
        .promise("deploys", deploys(|| json!({ "failed": "it crashes" })))
        .promise("probes", |site| probes(site, None))
        .promise("probes", |site| {
            probes(site, Some("no gateway has the host"))
        })
}

/// Makes the Revision of the template come up or fail, if neither has been reported yet.
async fn deploys(site: Site, status: Value) -> kube::Result<bool> {
    let Ok(this) = serde_json::from_value::<Workload>((*site.object).clone()) else {
        return Ok(false);
    };
    let name = workload::version(lifecycle_runtime::This::new(&this));
    let path = site.sibling_path("/apis/serving.tests/v1", "revisions", &name);
    site.edit(&path, |revision| {
        if revision.get("status").is_none() {
            revision["status"] = status;
        }
    })
    .await
}

/// Makes a load balancer accept the route, or report its reason for not doing so.
async fn probes(site: Site, failed: Option<&str>) -> kube::Result<bool> {
    let path = site.sibling_path("/apis/serving.tests/v1", "ingresses", site.name());
    site.edit(&path, |ingress| {
        let generation = ingress["metadata"]["generation"].clone();
        if ingress.pointer("/status/observedGeneration") != Some(&generation) {
            ingress["status"] = match failed {
                Some(why) => json!({ "observedGeneration": generation, "failed": why }),
                None => json!({ "observedGeneration": generation }),
            };
        }
    })
    .await
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
    Ok(other.is_some_and(|other| other.with_state(changed)))
}

/// Reports the outcome of the object of this name as its maker does, unless it already has a
/// status.
async fn settles(site: Site, of: (&str, &str), status: Value) -> kube::Result<bool> {
    let name = site.object["metadata"]["name"].as_str().unwrap_or_default();
    let path = site.sibling_path(of.0, of.1, name);
    site.edit(&path, |object| {
        if object.get("status").is_none() {
            object["status"] = status;
        }
    })
    .await
}

/// Makes the Issuer answer the current request.
async fn answers(site: Site, fields: Value) -> kube::Result<bool> {
    let Ok(this) = serde_json::from_value::<Certificate>((*site.object).clone()) else {
        return Ok(false);
    };
    let secret = site.sibling_path("/api/v1", "secrets", &this.spec.secret);
    let secret = site.get(&secret).await?;
    let secret = secret.and_then(|s| serde_json::from_value(s).ok());
    let name = certificate::next(lifecycle_runtime::This::new(&this), secret.as_ref());
    let path = site.sibling_path("/apis/certificates.tests/v1", "signingrequests", &name);
    site.edit(&path, |request| {
        if request.get("status").is_none() {
            request["status"] = fields;
        }
    })
    .await
}
