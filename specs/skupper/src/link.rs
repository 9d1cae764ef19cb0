//! `Link`: a connection to another site of the network, which this site dials.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Secret;
use kube::CustomResource;
use lifecycle_runtime::lifecycle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fragments::{managed, routed, site_room};
use super::site::{Endpoint, Site};
use super::status::Status;

lifecycle! {
    /// Leads to another site of the network. It makes nothing: the Site puts it into the configuration of the router, which dials.
    resource Link;

    lock "link.lock";

    use managed;
    use site_room;
    use routed;

    observe {
        secret:           Secret           by name spec.tls_credentials?;
        // Secret of the proxy that `spec.settings` names.
        proxy:            Secret           by ref;
    }
    facts {
        /// Validity of the specification: `Fine` if it can be dialled.
        validity:         { Fine, NoEndpoint, BadHost, BadPort, NoCredentials, Proxy, Keys } from site, documents, proxy given site;
        /// `Current` if the router has applied the declared configuration.
        sync:             { Behind, Current }                                          from site, report given site && validity == Fine && report;
        /// Health that the router reports for it.
        health:           { Dialling, Up, Failed }                                     from site, report given sync == Current;
        /// It is not dialled.
        unserved  = silent;
        never sync == Current && health == Dialling && matched;
        never sync == Current && health == Up && !matched;
    }
    states {
        use managed;
        use site_room::NoSite;
        /// It cannot be dialled through the proxy that it names: create or correct the Secret of that, or leave the setting out.
        NoProxy         when validity == Proxy   => Error   wakes proxy, self;
        /// The spec requests endpoints that cannot be dialled.
        Invalid         when validity != Fine    => Error   wakes self, site;
        /// The Secret with its certificates is missing: create it, with `ca.crt`, `tls.crt` and `tls.key`, or redeem an AccessToken, which makes it.
        NoSecret        when secret == Absent    => Error   wakes secret, self;
        use site_room::Blocked;
        use routed;
        /// The router cannot link and reports its reason: fix the cause, here or at the other site,
        /// and the router retries by itself.
        Failed          when health == Failed    => Error   wakes report, self;
        /// The other site does not answer, or no longer answers: check that it runs and accepts
        /// links at the endpoint. The router retries by itself.
        Unlinked        when health == Dialling  => Pending wakes report;
        /// The two sites are linked.
        goal Ready      when health == Up        => Ready;
    }
    promises {
        decides claimed by Site in Tidying | Starting | Ready | Unsupported | Unresolved: site && !router_config sets { router_config = Present };
        follows: router_config && sync == Behind && site && validity == Fine && report sets { sync = Current };
    }
    transitions {
        Unreachable -> Configuring;
        Unreachable | Configuring -> Failed | Unlinked | Ready;
    }
    status {
        condition Configured {
            use site_room;
            False "Error" "Secret not found for proxy configuration" when validity == Proxy && !proxy;
            False "Error" when validity != Fine;
            False "Error" "TLS credentials secret \"{spec.tls_credentials}\" not found" when secret == Absent;
            False "Error" when blocked;
            use routed;
        }
        condition Operational {
            True "Ready" "OK" when matched;
            False "Pending" "Not operational" otherwise;
        }
        ready "Ready" "OK" from Configured, Operational;
        field remote_site_id: Option<String> from report;
        field remote_site_name: Option<String> from report;
    }
}

/// Connection to another site.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "skupper.io",
    version = "v2alpha1",
    kind = "Link",
    plural = "links",
    singular = "link",
    shortname = "ln",
    namespaced,
    status = "LinkStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "Leads to another site of the network.",
    printcolumn = r#"{"name": "Status", "type": "string", "jsonPath": ".status.status"}"#,
    printcolumn = r#"{"name": "Remote Site", "type": "string", "jsonPath": ".status.remoteSiteName"}"#,
    printcolumn = r#"{"name": "Message", "type": "string", "jsonPath": ".status.message"}"#
)]
// Missing fields are reported on the object, although the schema requires them as well.
#[serde(rename_all = "camelCase", default)]
#[schemars(!default)]
pub struct LinkSpec {
    /// Endpoints at which its routers accept links: `inter-router`, and `edge` for an edge site.
    pub endpoints: Vec<Endpoint>,

    /// Name of the Secret with the certificate that is shown to the other site, and with the authority that verifies it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_credentials: Option<String>,

    /// Cost of this path: a value below 1 counts as 1.
    // Wide enough for any number that was stored under another definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<i32>")]
    pub cost: Option<i64>,

    /// Further settings by name. `allowed-keys` lists the routing keys whose streams may pass over
    /// the link, separated by commas. `proxy-configuration` names the Secret of a proxy that the
    /// existing router dials through: `host`, `port` and, if the proxy requires them, `username`
    /// and `password`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
}

/// Observed state of a Link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinkStatus {
    /// Status fields that every kind reports.
    #[serde(flatten)]
    pub common: Status,

    /// The uid of the other Site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_site_id: Option<String>,

    /// The name of the other Site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_site_name: Option<String>,
}
