//! `AccessGrant`: permission for other sites to link to this one, by a code, for a while.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use kube::CustomResource;
use lifecycle_runtime::{Readable, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fragments::overseen;
use super::site::Site;
use super::status::Status;

lifecycle! {
    /// Permission to link to the site of its namespace, for clients that know its code before it
    /// expires. The controller's grant server issues certificates for it.
    resource AccessGrant;

    lock "access_grant.lock";

    use overseen;

    observe {
        now:           clock;
        sites:         [Readable<Site>] by namespace;
        router_config: ConfigMap        by ref;
        site:          Site             by ref from sites, router_config;
        // Issuer that signs the certificates.
        issuer:        [Secret]         by refs of site;
        // Service and certificate authority of the grant server, both in the controller's
        // namespace.
        server:        [Service]        by refs of controller_config;
        authority:     [Secret]         by refs of controller_config;
        // The grant itself with its status. If another controller created it, only that status
        // contains its code and redemptions.
        former:        [AccessGrant]    by refs of sites;
        kept:          record String;
    }
    facts {
        /// The grant is valid, and its redemptions are known.
        validity:     { Fine, BadWindow, BadCount, BadCode, Forgotten } from self;
        /// True if the author of the grant sets the code.
        said:         bool                                    from self;
        /// True if all allowed redemptions have been made.
        used:         bool                                    from self, former;
        /// True if it has expired.
        over:         bool                                    from self, now given validity == Fine else false;
        /// Reachability of this site for other sites.
        door:         { Open, Edge, Closed }                  from site given site else Closed;
        /// True if the Secret of an authority that can sign exists.
        signs:        bool                                    from site, issuer given door == Open else false;
        /// True if the grant server has an address and is known by its certificate.
        reached:      bool                                    from server, authority;
        /// The code: the one that the author sets, or else the recorded one.
        let known:    GrantCode                               from kept;
        /// Generated code, if the author sets none.
        mint made: String in kept;
    }
    states {
        use overseen;
        /// The grant is invalid, or its redemptions are no longer known: delete it, and create it
        /// again.
        Invalid      when validity != Fine                    => Error   wakes self;
        /// The namespace has no Site: create one.
        NoSite       when !site                               => Error   wakes site;
        /// Other sites cannot link to an edge site: create the grant at a site that is not an edge
        /// site.
        Edge         when door == Edge                        => Error   wakes site;
        /// A code has to be generated.
        Coding       when !said && kept != Current            => Pending;
        /// All that were allowed have redeemed it.
        goal Used    when used                                => Ready;
        /// It has expired: make another one.
        Expired      when over                                => Error   wakes self, now;
        /// Other sites cannot reach this one: set `linkAccess` of its Site.
        Closed       when door == Closed                      => Pending wakes site, now;
        /// The Secret of the authority that is to sign is missing or no authority.
        NoIssuer     when !signs                              => Error   wakes issuer, site, self, now;
        /// The grant server has no certificate or no address yet: check the controller, and Service
        /// `skupper-grant-server` of its namespace.
        Unserved     when !reached                            => Pending wakes server, authority, now;
        /// It can be redeemed.
        goal Ready   when reached                             => Ready;
    }
    effects {
        apply kept from made, known, former when !said && validity == Fine && site && door != Edge;
    }
    transitions {
        Coding -> Used | Closed | Unserved | Ready;
        _ -> Expired | NoIssuer;
    }
    status {
        condition Processed {
            False "Error" when validity != Fine;
            False "Error" "No active site in namespace" when !site;
            False "Error" "Edge sites cannot accept incoming links from remote sites" when door == Edge;
            False "Pending" "Its code is being made" when !said && kept != Current;
            False "Error" when over && !used;
            True "Ready" "OK" otherwise;
        }
        condition Resolved {
            True "Ready" "OK" when used;
            False "Pending" when door != Open;
            False "Error" when !signs;
            False "Pending" when !reached;
            True "Ready" "OK" otherwise;
        }
        implicit in Processed "Error";
        ready "Ready" "OK" from Processed, Resolved;
        field url: Option<String> from server;
        field code: Option<String> from known;
        field ca: Option<String> from authority;
        field redemptions: Option<i64> from former;
        field expiration_time: Option<String> from sites;
    }
}

/// Code of a grant, if there is one.
pub struct GrantCode(pub Option<String>);

/// Permission to link to the site of its namespace.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "skupper.io",
    version = "v2alpha1",
    kind = "AccessGrant",
    plural = "accessgrants",
    singular = "accessgrant",
    shortname = "grant",
    shortname = "gr",
    namespaced,
    status = "AccessGrantStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "Permission to link to the site of its namespace.",
    printcolumn = r#"{"name": "Redemptions Allowed", "type": "integer", "jsonPath": ".spec.redemptionsAllowed"}"#,
    printcolumn = r#"{"name": "Redemptions Made", "type": "integer", "jsonPath": ".status.redemptions"}"#,
    printcolumn = r#"{"name": "Expiration", "type": "string", "jsonPath": ".status.expirationTime"}"#,
    printcolumn = r#"{"name": "Status", "type": "string", "jsonPath": ".status.status"}"#,
    printcolumn = r#"{"name": "Message", "type": "string", "jsonPath": ".status.message"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct AccessGrantSpec {
    /// How often it may be redeemed; without it, or with 0, once.
    // Wide enough for any number that was stored under another definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<i32>")]
    pub redemptions_allowed: Option<i64>,

    /// For how long it may be redeemed, such as `30m`; without it for ten minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "duration"))]
    pub expiration_window: Option<String>,

    /// The code; without it one is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,

    /// Name of the Secret with the authority that signs the certificates of links; without it that of the Site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,

    /// Further settings by name; none is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
}

/// Observed state of an AccessGrant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessGrantStatus {
    /// Status fields that every kind reports.
    #[serde(flatten)]
    pub common: Status,

    /// URL at which it is redeemed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,

    /// The code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,

    /// The certificate of the authority that verifies the grant server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,

    /// How often it was redeemed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<i32>")]
    pub redemptions: Option<i64>,

    /// When it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub expiration_time: Option<String>,
}
