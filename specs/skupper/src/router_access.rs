//! `RouterAccess`: where routers of other sites link to the router of a site.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kube::CustomResource;
use lifecycle_runtime::{Readable, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fragments::{managed, routed};
use super::router::{APPLICATION, RouterState};
use super::secured_access::SecuredAccess;
use super::site::{Endpoint, Site};
use super::status::Status;

lifecycle! {
    /// Lets routers of other sites link to that of its namespace: a SecuredAccess in front of it, and listeners, which the Site puts into its configuration.
    resource RouterAccess;

    lock "router_access.lock";

    use managed;
    use routed;

    observe {
        templates:         [ConfigMap]         by refs of controller_config;
        sites:             [Readable<Site>]    by namespace;
        router_config:     ConfigMap           by ref;
        site:              Site                by ref from sites, router_config;
        routers:           [Pod]               by labels { APPLICATION = router_config.meta.name };
        // ConfigMaps that the router reads, and the network status that the existing router
        // reports.
        documents:         [ConfigMap]         by refs of sites;
        report:            poll RouterState    by routers, documents every 2s given running;
        credentials:       Secret              by name spec.tls_credentials;
        // As the replaced implementation owns it.
        access:            owned SecuredAccess without controller by name meta.name given site;
    }
    facts {
        /// Validity of the specification: `Fine` if it has all required fields, and the router can
        /// apply it.
        validity:  { Fine, Incomplete, BadRole, BadPort, Edge, Keys } from site, documents given site;
        /// True if its certificate is issued for it.
        generated: bool                from self;
        /// True if the Site's router can be queried.
        running:   bool                from routers given site;
        /// `Current` if the router has applied the declared configuration.
        sync:      { Behind, Current } from report given validity == Fine && report;
        /// Health that the router reports for it.
        health:    { Up, Failed }      from report given sync == Current;
        /// True if the address at which it is reached is known.
        resolved:  bool                from access given access in { Stale, Current } else false;
        /// No router runs, or none answers.
        silent = !running || !report;
    }
    states {
        use managed;
        /// The namespace has no Site whose router could be reached: create one.
        NoSite          when !site                       => Error   wakes site;
        /// The spec requests something that the router does not support.
        Invalid         when validity != Fine            => Error   wakes site, self;
        /// Another one has the SecuredAccess of its name: remove that, or give it another name.
        Clash           when access == Foreign           => Error   wakes access, self;
        /// The previous SecuredAccess is still being deleted.
        Draining        when access == Terminating       => Pending;
        /// The SecuredAccess that leads to it must be written.
        Making          when access in { Absent, Stale } => Pending;
        /// The Secret with its certificates is missing: create it, with `ca.crt`, `tls.crt` and `tls.key`, or set `generateTlsCredentials`.
        NoSecret        when !credentials && !generated  => Error   wakes credentials, self;
        /// Another owner has the SecuredAccess of this name: remove that one, or rename this
        /// RouterAccess.
        Uncertified     when !credentials                => Pending wakes credentials, access;
        use routed;
        /// The router reports a failure with its reason: fix the cause, and the router retries by
        /// itself.
        Failed          when health == Failed            => Error   wakes report, self;
        /// The RouterAccess has no address yet: if this persists, check the status of the
        /// SecuredAccess.
        Unresolved      when !resolved                   => Pending wakes access;
        /// Other sites can link to it.
        goal Ready      when resolved                    => Ready;
    }
    effects {
        apply access from site, templates when validity == Fine;
    }
    promises {
        arises claimed by Site in Ready | Unresolved: site && !running sets { running = true };
        decides claimed by Site in Tidying | Starting | Ready | Unsupported | Unresolved: site && !router_config sets { router_config = Present };
        follows: router_config && sync == Behind && validity == Fine && report sets { sync = Current };
    }
    transitions {
        Draining -> Making;
        Making -> NoSecret | Uncertified | Unreachable | Configuring | Failed | Unresolved | Ready;
        Unreachable -> Configuring;
        Unreachable | Configuring -> Failed | Unresolved | Ready;
    }
    status {
        condition Configured {
            False "Error" "No active site in namespace" when !site;
            False "Error" when validity != Fine;
            False "Error" when access == Foreign;
            False "Pending" when access != Current;
            False "Error" "TLS credentials secret \"{spec.tls_credentials}\" not found" when !credentials && !generated;
            False "Pending" "TLS credentials secret \"{spec.tls_credentials}\" not found" when !credentials;
            use routed;
        }
        condition Resolved {
            True "Ready" "OK" when resolved;
            False "Pending" otherwise;
        }
        ready "Ready" "OK" from Configured, Resolved;
        field endpoints: Option<Vec<Endpoint>> from access;
    }
}

/// How routers of other sites reach the router.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "skupper.io",
    version = "v2alpha1",
    kind = "RouterAccess",
    plural = "routeraccesses",
    singular = "routeraccess",
    namespaced,
    status = "RouterAccessStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "Describes where routers of other sites link to the router of a site.",
    printcolumn = r#"{"name": "Status", "type": "string", "jsonPath": ".status.status"}"#,
    printcolumn = r#"{"name": "Message", "type": "string", "jsonPath": ".status.message"}"#
)]
// Missing fields are reported on the object, although the schema requires them as well.
#[serde(rename_all = "camelCase", default)]
#[schemars(!default)]
pub struct RouterAccessSpec {
    /// Roles: `inter-router` for routers that forward traffic of others, `edge` for routers that do
    /// not.
    pub roles: Vec<AccessRole>,

    /// Name of the Secret with the certificates of both sides: `tls.crt` and `tls.key` are shown, `ca.crt` verifies who links.
    pub tls_credentials: String,

    /// True if that Secret is created, for the names and addresses at which the router is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generate_tls_credentials: Option<bool>,

    /// Name of the Secret with the authority that signs; without it, that of the Site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,

    /// Type of access: `local`, `loadbalancer` or `nodeport`. If unset, the controller's default
    /// applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_type: Option<String>,

    /// Address on which the router listens; without it, the router listens on all its addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bind_host: Option<String>,

    /// Further names and addresses of the certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_alternative_names: Option<Vec<String>>,

    /// Further settings by name. `allowed-keys` lists the routing keys whose streams may pass over
    /// these links, separated by commas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
}

/// Role of the routers that a port serves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccessRole {
    /// `inter-router` or `edge`.
    pub name: String,

    /// The port; without it, 55671 for `inter-router` and 45671 for `edge`.
    // Wide enough for any number that was stored under another definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<i32>")]
    pub port: Option<i64>,
}

/// Observed state of a RouterAccess.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RouterAccessStatus {
    /// Status fields that every kind reports.
    #[serde(flatten)]
    pub common: Status,

    /// Endpoints at which it is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoints: Option<Vec<Endpoint>>,
}
