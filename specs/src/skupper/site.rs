//! `Site`: a namespace that takes part in the network, by a router of its own.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Status;

/// How a namespace takes part in the network.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "skupper.io",
    version = "v2alpha1",
    kind = "Site",
    plural = "sites",
    singular = "site",
    shortname = "st",
    namespaced,
    status = "SiteStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "A namespace that takes part in the network, by a router of its own.",
    printcolumn = r#"{"name": "Status", "type": "string", "jsonPath": ".status.status"}"#,
    printcolumn = r#"{"name": "Sites In Network", "type": "integer", "jsonPath": ".status.sitesInNetwork"}"#,
    printcolumn = r#"{"name": "Message", "type": "string", "jsonPath": ".status.message"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct SiteSpec {
    /// The ServiceAccount of the router. Without it one is made, with the rights that it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account: Option<String>,

    /// How other sites reach this one: nothing or `none`, `default`, or a type of access.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_access: Option<String>,

    /// Name of the Secret with the certificate authority that signs unless said otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_issuer: Option<String>,

    /// Whether the router only leads to others, and nobody goes through it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge: Option<bool>,

    /// Whether there are two routers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ha: Option<bool>,

    /// Further settings by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
}

/// What is known of a Site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SiteStatus {
    /// What every kind reports.
    #[serde(flatten)]
    pub common: Status,

    /// Where other sites reach this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoints: Option<Vec<Endpoint>>,

    /// How many sites the network has, this one included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sites_in_network: Option<i32>,

    /// The sites of the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Vec<SiteRecord>>,

    /// The certificate authority that signs unless said otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_issuer: Option<String>,

    /// Who looks after this site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<Controller>,
}

/// Where a site can be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Endpoint {
    /// For whom it is: `inter-router` or `edge`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Host name or address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The port, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// Endpoints of one group lead to one router.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// A site of the network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SiteRecord {
    /// The uid of the Site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The name of the Site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// What it runs on, such as `kubernetes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// The version of its router.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its links to other sites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<LinkRecord>>,
    /// The routing keys that it offers or serves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub services: Option<Vec<ServiceRecord>>,
}

/// A link of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinkRecord {
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The uid of the other Site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_site_id: Option<String>,
    /// The name of the other Site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_site_name: Option<String>,
    /// Whether it is up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operational: Option<bool>,
}

/// A routing key at a site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceRecord {
    /// The key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing_key: Option<String>,
    /// Names of what serves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connectors: Option<Vec<String>>,
    /// Names of what offers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listeners: Option<Vec<String>>,
}

/// Who looks after a site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Controller {
    /// Name of its Deployment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The namespace where it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}
