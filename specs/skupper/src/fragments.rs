//! Declarations that the lifecycles of several kinds share.

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use lifecycle_runtime::{Readable, fragment};

use super::router::{APPLICATION, RouterState};
use super::site::Site;

fragment! {
    /// Allows another controller to manage the namespace. Every kind shows the message of its
    /// roll-up.
    fragment managed;

    observe {
        controller_config: ConfigMap by ref;
    }
    facts {
        /// True if another controller manages the namespace.
        managed_by_other: bool from controller_config;
    }
    states {
        /// Another controller manages the namespace.
        OtherController when managed_by_other => Ignored;
    }
    status {
        implicit in Configured "Error";
        field status = reason;
        field message = message;
        column Status ".status.status";
    }
}

fragment! {
    /// Like `managed`, for kinds that do not configure a router. Each kind names the condition that
    /// reports information outside the states.
    fragment overseen;

    observe {
        controller_config: ConfigMap by ref;
    }
    facts {
        /// True if another controller manages the namespace.
        managed_by_other: bool from controller_config;
    }
    states {
        /// Another controller manages the namespace.
        OtherController when managed_by_other => Ignored;
    }
    status {
        field status = reason;
        field message = message;
        column Status ".status.status";
    }
}

fragment! {
    /// Requires a Site in the namespace, whose router knows the other side.
    fragment site_room;

    needs {
        unserved: bool;
    }
    observe {
        sites:         [Readable<Site>] by namespace;
        router_config: ConfigMap        by ref;
        site:          Site             by ref from sites, router_config;
        routers:       [Pod]            by labels { APPLICATION = router_config.meta.name };
        // ConfigMaps that the router reads, and the network status that the existing router
        // reports.
        documents:     [ConfigMap]      by refs of sites;
        report:        poll RouterState by routers, documents every 500ms given running;
    }
    facts {
        /// True if the Site's router can be queried.
        running: bool from routers given site;
        /// True if it is not served and its Site reports an obstacle.
        blocked: bool from site given site && unserved else false;
        /// True if there is a counterpart: for its routing key in the network, or at the other end
        /// of the link.
        matched: bool from report given report else false;
        /// No router runs, or none answers.
        silent = !running || !report;
    }
    states {
        /// The namespace has no Site whose router would serve it: create one.
        NoSite  when !site   => Error wakes site;
        /// The Site cannot serve it: the status of the Site reports the necessary change.
        Blocked when blocked => Error wakes site;
    }
    promises {
        arises claimed by Site in Ready | Unresolved: site && !running sets { running = true };
    }
    status {
        condition Configured {
            False "Error" "No active site in namespace" when !site;
        }
    }
}

fragment! {
    /// It is in the configuration of a router.
    fragment routed;

    needs {
        silent: bool;
        sync:   { Behind, Current };
        health: { Failed };
    }
    states {
        /// No router runs, or none answers: if this persists, check the status of the Site and its
        /// router.
        Unreachable when silent         => Pending overdue 30s;
        /// The router has not read the newest configuration yet: if this persists, check the log of
        /// the router.
        Configuring when sync == Behind => Pending overdue 10s;
    }
    status {
        condition Configured {
            False "Pending" when silent;
            False "Pending" when sync == Behind;
            False "Error" when health == Failed;
            True "Ready" "OK" otherwise;
        }
    }
}
