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
    /// Permission to link to the site of its namespace, for whoever knows its code before it expires. The controller's grant server gives out certificates by it.
    resource AccessGrant;

    lock "access_grant.lock";

    use overseen;

    observe {
        now:           clock;
        sites:         [Readable<Site>] by namespace;
        router_config: ConfigMap        by ref;
        site:          Site             by ref from sites, router_config;
        // What signs the certificates.
        issuer:        [Secret]         by refs of site;
        // Where the grant server is reached, and what verifies it: both of the controller's namespace.
        server:        [Service]        by refs of controller_config;
        authority:     [Secret]         by refs of controller_config;
        // The grant itself with its status: of one that another controller has made, the code and who has redeemed it stand there alone.
        former:        [AccessGrant]    by refs of sites;
        kept:          record String;
    }
    facts {
        /// It says what can be granted, and it is known who has redeemed it.
        validity:     { Fine, BadWindow, BadCount, BadCode, Forgotten } from self;
        /// Whether its author says the code.
        said:         bool                                    from self;
        /// Whether all that were allowed have redeemed it.
        used:         bool                                    from self, former;
        /// Whether it has expired.
        over:         bool                                    from self, now given validity == Fine else false;
        /// Whether other sites can reach this one.
        door:         { Open, Edge, Closed }                  from site given site else Closed;
        /// Whether there is the Secret of an authority that can sign.
        signs:        bool                                    from site, issuer given door == Open else false;
        /// Whether the grant server is reached somewhere, and known by its certificate.
        reached:      bool                                    from server, authority;
        /// The code: what its author says, or what is kept.
        let known:    GrantCode                               from kept;
        /// The code, where its author says none.
        mint made: String in kept;
    }
    states {
        use overseen;
        /// It says what cannot be granted, or it is not known any more who has redeemed it: then delete it, and create it again.
        Invalid      when validity != Fine                    => Error   wakes self;
        /// The namespace has no Site: create one.
        NoSite       when !site                               => Error   wakes site;
        /// Nobody links to an edge site: grant at a site that is none.
        Edge         when door == Edge                        => Error   wakes site;
        /// A code is to be made.
        Coding       when !said && kept != Current            => Pending;
        /// All that were allowed have redeemed it.
        goal Used    when used                                => Ready;
        /// It has expired: make another one.
        Expired      when over                                => Error   wakes self, now;
        /// Other sites cannot reach this one: set `linkAccess` of its Site.
        Closed       when door == Closed                      => Pending wakes site, now;
        /// The Secret of the authority that is to sign is missing or no authority.
        NoIssuer     when !signs                              => Error   wakes issuer, site, self, now;
        /// The grant server has no certificate or no address yet: look at the controller, and at Service `skupper-grant-server` of its namespace.
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

/// The code of a grant, if there is one.
pub struct GrantCode(pub Option<String>);

/// Who may link to the site of its namespace.
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

/// What is known of an AccessGrant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessGrantStatus {
    /// What every kind reports.
    #[serde(flatten)]
    pub common: Status,

    /// Where it is redeemed.
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
