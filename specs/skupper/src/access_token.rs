//! `AccessToken`: redemption of an AccessGrant of another site for a Link to it.

use std::collections::BTreeMap;
use std::fmt;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::CustomResource;
use lifecycle_runtime::{Readable, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fragments::overseen;
use super::link::Link;
use super::site::{Endpoint, Site};
use super::status::Status;

lifecycle! {
    /// Redeems an AccessGrant of another site, once. Requests a certificate from its grant server,
    /// stores it in a Secret, and creates a Link with it.
    resource AccessToken;

    lock "access_token.lock";

    use overseen;

    observe {
        sites:         [Readable<Site>]     by namespace;
        router_config: ConfigMap            by ref;
        site:          Site                 by ref from sites, router_config;
        // Uid of the site for which the token is redeemed.
        home:          record String;
        reply:         poll Reply           by spec.url, spec.code, spec.ca, meta.uid, site, home every 10s given validity == Fine && site && stage == Vacant && home == Current;
        // The Secret of the token's name and the Links of the namespace, for any owner. An object
        // that the Site owns may belong to another token.
        existing:      [Secret]             by refs of sites;
        present:       [Readable<Link>]     by namespace;
        made:          record of secret;
        secret:        owned Secret of site by name meta.name given stage != Taken;
        linked:        record of links;
        links:         owned [Link] of site by names of secret given secret == Made && !clash;
    }
    facts {
        /// Validity of the required fields.
        validity:     { Fine, Incomplete, BadUrl, BadAuthority, BadCode } from self;
        /// State of the token's Secret: absent, owned by another, its own, or its own and recorded.
        stage:        { Vacant, Taken, Ours, Noted }             from made, existing;
        /// True if the site for which the token was redeemed is gone.
        strayed:      bool                                       from site, home given secret in { Made, Terminating, Gone } else false;
        /// Answer of the grant server.
        answer:       { Given, Denied }                          from reply given reply else Unheard;
        /// True if a Link with a name that it must create is owned by another controller or user.
        clash:        bool                                       from secret, linked, present given secret == Made else false;
        /// True if the site for which the token was redeemed is gone.
        orphaned  = strayed || !site && secret in { Made, Terminating, Gone };
        /// It was redeemed.
        done      = secret in { New, Made, Terminating, Gone };
    }
    states {
        use overseen;
        /// The token was redeemed, and its results were removed with its site. The token is no
        /// longer useful: delete it.
        Strayed      when orphaned                           => Error   wakes site, self;
        /// The Secret from its redemption has been deleted: delete the AccessToken, too.
        goal Spent   when secret in { Terminating, Gone }    => Ready;
        /// The namespace has no Site: create one.
        NoSite       when !site                              => Error   wakes site;
        /// The redemption has to be recorded.
        Noting       when secret == New                      => Pending;
        /// The spec lacks a required field or has an invalid one.
        Invalid      when !done && validity != Fine          => Error   wakes self, secret;
        /// A Secret of the token's name exists and is not its own: delete that Secret, or create an
        /// AccessToken with another name.
        Taken        when !done && (stage != Vacant || secret == Foreign) => Error   wakes secret, existing, self;
        /// The site for which the token is redeemed has to be recorded.
        Homing       when !done && home != Current           => Pending;
        /// The request to the grant server is in progress.
        Asking       when !done && answer == Unheard         => Pending overdue 30s;
        /// The grant server is unreachable or denies the request: fix the cause, or get another
        /// token. The request is repeated, unless the answer is final.
        Denied       when !done && answer == Denied          => Error   wakes reply, self, secret;
        /// The certificate has to be stored.
        Keeping      when !done                              => Pending;
        /// A Link of that name exists and is not the token's own: delete that Link, and the token
        /// creates its Link.
        LinkTaken    when clash || links == Foreign          => Error   wakes links, present, self;
        /// The Links have to be created.
        Linking      when links in { New, Behind }           => Pending;
        /// It was redeemed.
        goal Ready   when done                               => Ready;
    }
    effects {
        apply home from site when secret == Absent && stage == Vacant && validity == Fine;
        create secret from reply when answer == Given && home == Current && validity == Fine && stage == Vacant;
        create each links from secret;
    }
    status {
        condition Redeemed {
            True "Error" "Already redeemed for a deleted site" when orphaned;
            True "Ready" "OK" when done;
            False "Error" "No active site in namespace" when !site;
            False "Error" when validity != Fine;
            False "Error" "Secret {meta.name} already exists in namespace" when stage != Vacant || secret == Foreign;
            False "Error" when answer == Denied;
            False "Pending" "Not redeemed yet" otherwise;
        }
        condition Linked {
            False "Error" "Already redeemed for a deleted site" when orphaned;
            False "Error" when clash || links == Foreign;
            False "Pending" "Its Link is being made" when secret == Made && links in { New, Behind };
            Omit otherwise;
        }
        implicit in Redeemed "Error";
        ready "Ready" "OK" from Redeemed, Linked;
        field redeemed: Option<bool> from made;
    }
}

/// Answer of a grant server.
#[derive(Clone, PartialEq, Eq)]
pub enum Reply {
    /// It has given this.
    Given(Given),
    /// The grant server denies the request for now, or is unreachable, for this reason.
    Denied(String),
    /// The grant server denies the request for good, for this reason.
    Refused(String),
}

/// Data for a link to another site.
#[derive(Clone, PartialEq, Eq)]
pub struct Given {
    /// Contents of the Secret by key: `ca.crt`, `tls.crt` and `tls.key`, PEM.
    pub files: BTreeMap<String, String>,
    /// Locations of the routers of the other site, a Link each.
    pub links: Vec<GivenLink>,
}

/// A Link that has to be created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenLink {
    /// Its name.
    pub name: String,
    /// Endpoints that it leads to.
    pub endpoints: Vec<Endpoint>,
    /// Cost of the Link.
    pub cost: Option<i64>,
}

impl fmt::Debug for Reply {
    /// Shows no key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given(given) => f.debug_tuple("Given").field(&given.links).finish(),
            Self::Denied(why) => f.debug_tuple("Denied").field(why).finish(),
            Self::Refused(why) => f.debug_tuple("Refused").field(why).finish(),
        }
    }
}

/// Token that redeems a grant.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "skupper.io",
    version = "v2alpha1",
    kind = "AccessToken",
    plural = "accesstokens",
    singular = "accesstoken",
    shortname = "token",
    shortname = "to",
    namespaced,
    status = "AccessTokenStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "Redeems an AccessGrant of another site for a Link to it.",
    printcolumn = r#"{"name": "URL", "type": "string", "jsonPath": ".spec.url"}"#,
    printcolumn = r#"{"name": "Redeemed", "type": "boolean", "jsonPath": ".status.redeemed"}"#,
    printcolumn = r#"{"name": "Status", "type": "string", "jsonPath": ".status.status"}"#,
    printcolumn = r#"{"name": "Message", "type": "string", "jsonPath": ".status.message"}"#
)]
// Missing fields are reported on the object, although the schema requires them as well.
#[serde(rename_all = "camelCase", default)]
#[schemars(!default)]
pub struct AccessTokenSpec {
    /// URL at which the grant is redeemed.
    pub url: String,

    /// The code of the grant.
    pub code: String,

    /// The certificate of the authority that verifies the grant server.
    pub ca: String,

    /// Cost of the Link. Without it, or with 0, the cost from the other site applies.
    // Wide enough for any number that was stored under another definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<i32>")]
    pub link_cost: Option<i64>,

    /// Further settings by name; none is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
}

/// Observed state of an AccessToken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessTokenStatus {
    /// Status fields that every kind reports.
    #[serde(flatten)]
    pub common: Status,

    /// True if it was redeemed: it cannot be used again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redeemed: Option<bool>,
}
