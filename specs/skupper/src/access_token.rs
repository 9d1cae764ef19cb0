//! `AccessToken`: what redeems an AccessGrant of another site for a Link to it.

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
    /// Redeems an AccessGrant of another site: asks its grant server for a certificate, keeps that in a Secret, and makes a Link with it, once.
    resource AccessToken;

    lock "access_token.lock";

    use overseen;

    observe {
        sites:         [Readable<Site>]     by namespace;
        router_config: ConfigMap            by ref;
        site:          Site                 by ref from sites, router_config;
        // The uid of the site for which it is redeemed.
        home:          record String;
        reply:         poll Reply           by spec.url, spec.code, spec.ca, meta.uid, site, home every 10s given validity == Fine && site && stage == Vacant && home == Current;
        // What has the name of its Secret, and the Links of the namespace, whosever they are: what the Site owns may be of another token.
        existing:      [Secret]             by refs of sites;
        present:       [Readable<Link>]     by namespace;
        made:          record of secret;
        secret:        owned Secret of site by name meta.name given stage != Taken;
        linked:        record of links;
        links:         owned [Link] of site by names of secret given secret == Made && !clash;
    }
    facts {
        /// Whether it says what it must.
        validity:     { Fine, Incomplete, BadUrl, BadAuthority, BadCode } from self;
        /// How far it is: its Secret is not there, another's, there and its own, or noted.
        stage:        { Vacant, Taken, Ours, Noted }             from made, existing;
        /// Whether the site for which it was redeemed is gone.
        strayed:      bool                                       from site, home given secret in { Made, Terminating, Gone } else false;
        /// What the grant server says.
        answer:       { Given, Denied }                          from reply given reply else Unheard;
        /// Whether somebody else has a Link of a name that it is to make.
        clash:        bool                                       from secret, linked, present given secret == Made else false;
        /// What it was redeemed for is gone.
        orphaned  = strayed || !site && secret in { Made, Terminating, Gone };
        /// It was redeemed.
        done      = secret in { New, Made, Terminating, Gone };
    }
    states {
        use overseen;
        /// It was redeemed, and what came of it went with its site: it is of no use any more, so delete it.
        Strayed      when orphaned                           => Error   wakes site, self;
        /// What it was redeemed for has been deleted: delete it, too.
        goal Spent   when secret in { Terminating, Gone }    => Ready;
        /// The namespace has no Site: create one.
        NoSite       when !site                              => Error   wakes site;
        /// That it was redeemed is to be noted.
        Noting       when secret == New                      => Pending;
        /// It does not say what it must.
        Invalid      when !done && validity != Fine          => Error   wakes self, secret;
        /// A Secret of its name is there, and not of it: delete that Secret, or make an AccessToken of another name.
        Taken        when !done && (stage != Vacant || secret == Foreign) => Error   wakes secret, existing, self;
        /// For which site it is redeemed is to be noted.
        Homing       when !done && home != Current           => Pending;
        /// The grant server is asked.
        Asking       when !done && answer == Unheard         => Pending overdue 30s;
        /// The grant server cannot be asked, or says no: put that right, or get another token. It is asked again, unless its answer is final.
        Denied       when !done && answer == Denied          => Error   wakes reply, self, secret;
        /// The certificate is to be kept.
        Keeping      when !done                              => Pending;
        /// A Link of that name is there, and not of it: delete that Link, and this one is made.
        LinkTaken    when clash || links == Foreign          => Error   wakes links, present, self;
        /// The Links are to be made.
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

/// What a grant server says.
#[derive(Clone, PartialEq, Eq)]
pub enum Reply {
    /// It has given this.
    Given(Given),
    /// It says no for now, or cannot be asked, because of this.
    Denied(String),
    /// It says no, and will not say anything else, because of this.
    Refused(String),
}

/// What makes a link to another site.
#[derive(Clone, PartialEq, Eq)]
pub struct Given {
    /// By what the Secret has: `ca.crt`, `tls.crt` and `tls.key`, PEM.
    pub files: BTreeMap<String, String>,
    /// Where the routers of the other site are, a Link each.
    pub links: Vec<GivenLink>,
}

/// A Link that is to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenLink {
    /// Its name.
    pub name: String,
    /// Where it leads.
    pub endpoints: Vec<Endpoint>,
    /// What it costs.
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

/// What redeems a grant.
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
// What is missing is told on the object; the schema asks for it all the same.
#[serde(rename_all = "camelCase", default)]
#[schemars(!default)]
pub struct AccessTokenSpec {
    /// Where the grant is redeemed.
    pub url: String,

    /// The code of the grant.
    pub code: String,

    /// The certificate of the authority that verifies the grant server.
    pub ca: String,

    /// What the Link is to cost; without it, or with 0, as the other site says.
    // Wide enough for any number that was stored under another definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<i32>")]
    pub link_cost: Option<i64>,

    /// Further settings by name; none is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
}

/// What is known of an AccessToken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessTokenStatus {
    /// What every kind reports.
    #[serde(flatten)]
    pub common: Status,

    /// Whether it was redeemed: it cannot be used again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redeemed: Option<bool>,
}
