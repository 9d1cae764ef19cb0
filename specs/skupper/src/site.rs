//! `Site`: a namespace that takes part in the network, by a router of its own.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret, Service, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::CustomResource;
use lifecycle_runtime::{Readable, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attached::AttachedConnector;
use super::attached_binding::AttachedConnectorBinding;
use super::certificate::Certificate;
use super::connector::Connector;
use super::fragments::managed;
use super::link::Link;
use super::listener::Listener;
use super::multi_key_listener::MultiKeyListener;
use super::router::{APPLICATION, RouterState};
use super::router_access::RouterAccess;
use super::status::Status;

lifecycle! {
    /// A namespace that takes part in the network, by a router of its own. The one writer of that router's configuration.
    resource Site;

    lock "site.lock";

    use managed;

    observe {
        templates:         [ConfigMap]                by refs of controller_config;
        sizes:             [ConfigMap]                by refs of controller_config;
        // Unreadable objects keep their current allocation and do not affect the others.
        sites:             [Readable<Site>]           by namespace;
        listeners:         [Readable<Listener>]       by namespace;
        multi_key_listeners: [Readable<MultiKeyListener>] by namespace;
        connectors:        [Readable<Connector>]      by namespace;
        links:             [Readable<Link>]           by namespace;
        bindings:          [Readable<AttachedConnectorBinding>] by namespace;
        attached:          [Readable<AttachedConnector>] by refs of bindings;
        accesses:          [Readable<RouterAccess>]   by namespace;
        pods:              [Pod]                      by namespace;
        routers:           [Pod]                      by labels { APPLICATION = router_config.meta.name };
        // ConfigMaps that the router reads, and the network status that the existing router
        // reports.
        documents:         [ConfigMap]                by refs of sites;
        report:            poll RouterState           by routers, documents every 2s given running == Ready;
        services:          [Service]                  by namespace;
        // Configuration, for any owner. Only the owner observes an owned object.
        existing_config:   [ConfigMap]                by refs of sites;
        existing_router:   [Deployment]               by refs of sites;
        // The authority of other sites, whosever it is: its author may have made one.
        authorities:       [Certificate]              by refs of sites;
        // The Secrets that entries of the configuration need.
        needed:            [Secret]                   by refs of existing_config, existing_router, listeners, multi_key_listeners, connectors, links, attached, accesses;
        // Owned in the same way as the existing controller owns them, so that its objects become
        // ours.
        router_config:     owned ConfigMap without controller by ref;
        // Certificates and Service with which clients inside the cluster verify and find the
        // router, and the certificate authority that signs them.
        identities: owned {
            local_authority:   Certificate without controller by ref;
            local_certificate: Certificate without controller by ref;
            local_service:     optional Service without controller by ref;
            // Certificate authority of other sites, and of the site's own certificates that name
            // no issuer.
            authority:         optional Certificate without controller by ref;
        } given router_config == Current;
        // Identity under which the router runs.
        rights: owned {
            account:           ServiceAccount without controller by ref;
            role:              Role without controller by ref;
            role_binding:      RoleBinding without controller by ref;
        } given managed_account && identities == Current;
        router:            owned Deployment   without controller by ref given identities == Current && (!managed_account || rights == Current);
        // Access for links of other sites.
        access:            owned RouterAccess without controller by ref given router == Current;
        unused:            owned [Service]    without controller by names of services, router_config given router == Current && (access == Current || !linked && access in { Absent, Foreign });
    }
    facts {
        /// True if it is the one Site of its namespace that counts.
        active:           bool                            from sites, existing_config;
        /// `Fine` if everything that the Site requests is implemented. Unimplemented requests are
        /// reported, and the rest is served.
        validity:         { Fine, Unfit }                from sites given active;
        /// True if the router uses a ServiceAccount that is created for it.
        managed_account:  bool                            from sites;
        /// True if other sites must be able to reach this one.
        linked:           bool                            from sites given active else false;
        /// True if a setting of it has no effect, or a label template or a size for it cannot be
        /// read. That part is left out, and all else continues.
        unapplied:        bool                            from sites, existing_config, existing_router, templates, sizes given active && router in { Stale, Current } else false;
        /// True if there are objects that cannot be read.
        unread:           bool                            from sites, listeners, multi_key_listeners, connectors, links, bindings, attached, accesses given active else false;
        /// True if the image of the router is known.
        has_image:        bool                            from sites, existing_config, existing_router given router in { Absent, Stale } else true;
        /// State of its router: `None` if no router runs.
        running:          { None, Waiting, Ready }        from pods given active else None;
        /// True if the address at which other sites reach it is known.
        resolved:         bool                            from accesses given linked else false;
        /// An object of the router is another's.
        clash = any(router_config, identities, rights, router) == Foreign;
        /// An object that other sites are to link by is another's.
        barred = linked && access == Foreign;
    }
    states {
        use managed;
        /// Another Site of the namespace was there before, and a namespace has one: delete one of the two.
        Second          when !active                         => Error   wakes sites;
        /// Another controller or user has an object of a name that the router needs, regardless of
        /// the name of the Site: remove that object.
        Clash           when clash || barred                 => Error   wakes router_config, identities, rights, router, access, self;
        /// No image is known for its router: give the controller the options that the message names.
        Imageless       when !has_image                      => Error   wakes existing_router, self;
        /// The objects of the router have to be written.
        Making          when router != Current               => Pending;
        /// The RouterAccess by which other sites link must be written.
        Opening         when linked && access != Current => Pending;
        /// The RouterAccess by which other sites have linked must be deleted.
        Closing         when !linked && access in { Stale, Current, Terminating } => Pending;
        /// Services that no Listener requests any longer have to be deleted.
        Tidying         when unused in { Surplus, Draining } => Pending;
        /// The spec requests something that is not implemented. Everything else is served.
        Unsupported     when validity != Fine                => Error   wakes self;
        /// No router is ready: if this persists, check the Pods of Deployment `skupper-router`.
        Starting        when running != Ready                => Pending overdue 2min;
        /// The address for other sites is not known yet: if this persists, check the status of
        /// RouterAccess `skupper-router`.
        Unresolved      when linked && !resolved             => Pending wakes accesses;
        /// Its router runs.
        goal Ready      when running == Ready                => Ready;
    }
    effects {
        revise: apply router_config from router_config, services, listeners, multi_key_listeners, connectors, links, bindings, attached, accesses, needed, existing_router, pods, templates when active;
        plan:   apply router_config from services, listeners, multi_key_listeners, connectors, links, bindings, attached, accesses, needed, existing_router, pods, templates when active;
        apply each identities from router_config, existing_router, authorities, templates when active;
        delete each identities when active;
        apply each rights from router_config, existing_router, templates when active;
        delete each rights when active;
        apply router from router_config, existing_router, templates, sizes when active && has_image;
        apply access from templates when active && linked;
        delete access when active && !linked;
        delete each unused when active;
    }
    promises {
        starts: router == Current && running != Ready && active sets { running = Ready };
    }
    transitions {
        Imageless -> Making;
        Imageless | Making -> Opening | Closing | Tidying;
        Opening | Closing -> Tidying;
        Imageless | Making | Opening | Closing | Tidying -> Starting;
        Imageless | Making | Opening | Tidying | Starting -> Unresolved;
        Imageless | Making | Opening | Closing | Tidying | Starting -> Ready;
        _ -> Clash | Imageless | Unsupported;
    }
    properties {
        // In Ready, all objects that the router needs are as desired, besides the running router
        // itself.
        always router_config == Current && identities == Current && (!managed_account || rights == Current) && router == Current in Ready;
        // A Site that does not count writes nothing of its namespace.
        never plan while !active || managed_by_other;
        never revise while !active || managed_by_other;
        // The objects that a router reads are written before it starts.
        plan before apply_router;
        // Work ends with a running router, or in a state that reports the missing part.
        reaches Ready | Clash | Imageless | Unsupported | Unresolved from Making, Tidying, Starting;
    }
    status {
        condition Configured {
            False "Error" when !active;
            False "Error" when validity != Fine || clash || barred;
            False "Error" when !has_image;
            False "Pending" when router != Current;
            False "Pending" when linked && access != Current;
            False "Pending" when !linked && access in { Stale, Current, Terminating };
            False "Pending" when unused in { Surplus, Draining };
            True "Ready" "OK" otherwise;
        }
        condition Running {
            True "Ready" "OK" when running == Ready;
            False "Pending" "No router pod is ready" when running == None;
            False "Pending" otherwise;
        }
        condition Resolved {
            Omit when !linked;
            True "Ready" "OK" when resolved;
            False "Pending" otherwise;
        }
        /// Reported besides the roll-up and not required by it: a Site is ready without the labels,
        /// and settings without effect do not disturb traffic.
        condition SettingsApplied {
            False "Error" event "SettingNotApplied" when unapplied;
            Omit otherwise;
        }
        /// Reported besides the roll-up and not required by it: everything else of the Site is
        /// served.
        condition ObjectsRead {
            False "Error" event "ObjectUnreadable" when unread;
            Omit otherwise;
        }
        ready "Ready" "OK" from Configured, Running, Resolved;
        field endpoints: Option<Vec<Endpoint>> from accesses;
        field default_issuer: Option<String> from sites;
        field sites_in_network: Option<i32> from running, report;
        field network: Vec<SiteRecord> from report;
        field controller: Controller from sites;
    }
}

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

    /// Name of the Secret with the certificate authority that signs by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_issuer: Option<String>,

    /// True if the router only leads to others, and no other site goes through it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge: Option<bool>,

    /// True if there are two routers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ha: Option<bool>,

    /// Further settings by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
}

/// Observed state of a Site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SiteStatus {
    /// Status fields that every kind reports.
    #[serde(flatten)]
    pub common: Status,

    /// Endpoints at which other sites reach this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoints: Option<Vec<Endpoint>>,

    /// How many sites the network has, this one included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sites_in_network: Option<i32>,

    /// The sites of the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Vec<SiteRecord>>,

    /// Certificate authority that signs by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_issuer: Option<String>,

    /// The controller that manages this site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<Controller>,
}

/// Address at which a site can be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Endpoint {
    /// Role of the endpoint: `inter-router` or `edge`.
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
    /// Platform that it runs on, such as `kubernetes`.
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
    /// True if it is up.
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
    /// Names of the connectors that serve it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connectors: Option<Vec<String>>,
    /// Names of the listeners that offer it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listeners: Option<Vec<String>>,
}

/// The controller that manages a site.
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
