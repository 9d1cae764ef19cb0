//! What the lifecycles of several kinds have in common.

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use lifecycle_runtime::{Readable, fragment};

use super::router::{APPLICATION, RouterState};
use super::site::Site;

fragment! {
    /// Another controller may manage the namespace; and every kind shows what its roll-up says.
    fragment managed;

    observe {
        controller_config: ConfigMap by ref;
    }
    facts {
        /// Whether another controller manages the namespace.
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
    /// As `managed`, of kinds that no router is configured by: each says itself which condition tells what no state says.
    fragment overseen;

    observe {
        controller_config: ConfigMap by ref;
    }
    facts {
        /// Whether another controller manages the namespace.
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
    /// The namespace has a Site, whose router knows what is on the other side.
    fragment site_room;

    needs {
        unserved: bool;
    }
    observe {
        sites:         [Readable<Site>] by namespace;
        router_config: ConfigMap        by ref;
        site:          Site             by ref from sites, router_config;
        routers:       [Pod]            by labels { APPLICATION = router_config.meta.name };
        // What its router goes by, and what is told of the network where the router is the existing one.
        documents:     [ConfigMap]      by refs of sites;
        report:        poll RouterState by routers, documents every 500ms given running;
    }
    facts {
        /// Whether the Site's router can be asked.
        running: bool from routers given site;
        /// Whether its Site says that something is in its way, where it is not served.
        blocked: bool from site given site && unserved else false;
        /// Whether anything is on the other side: of its routing key in the network, or of the link.
        matched: bool from report given report else false;
        /// No router runs, or none answers.
        silent = !running || !report;
    }
    states {
        /// The namespace has no Site, whose router would serve it: create one.
        NoSite  when !site   => Error wakes site;
        /// Its Site cannot serve it: the status of the Site says what is to be changed there.
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
        /// No router runs, or none answers: if it stays so, look at the status of the Site and at its router.
        Unreachable when silent         => Pending overdue 30s;
        /// The router has not read the newest configuration yet: if it stays so, look at the log of the router.
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
