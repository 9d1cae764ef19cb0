//! The suites of lifecycles that operators of others have, said in the language.

use kube::CustomResourceExt;
use lifecycle_suite::resources::{Site, Suite};
use serde_json::{Value, json};

use crate::lifecycles::autoscaler::{self, Autoscaler, ByLoad, Meters};
use crate::lifecycles::certificate::{self, Certificate, Issuer, Signed, SigningRequest};
use crate::lifecycles::dns::{self, AtProvider, Dns, DnsRecord, Zone};
use crate::lifecycles::quota::{self, Counted, Quota};

/// The suite of a count of what a namespace has.
pub fn quota() -> Suite {
    Suite::of(|| quota::machine(Counted))
        .define(&Quota::crd())
        .fixtures(include_str!("../../fixtures/quota/quota.yaml"))
        .fixtures(include_str!("../../fixtures/quota/used.yaml"))
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
