//! An operator of ordinary size: a wiki with a database to migrate, a server, a way in from outside
//! if there is a host, and a backup if there is a schedule. The four go on side by side.

#[path = "wiki/logic.rs"]
pub(crate) mod logic;

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::batch::v1::{CronJob, Job};
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Secret, Service};
use k8s_openapi::api::networking::v1::Ingress;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use lifecycle_runtime::{Operator, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Wanted state of a wiki.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "examples.test",
    version = "v1",
    kind = "Wiki",
    plural = "wikis",
    singular = "wiki",
    namespaced,
    status = "WikiStatus"
)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WikiSpec {
    /// The tag of the image, which is the version of the database as well.
    pub(crate) version: String,
    /// The name under which it is reached from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<String>,
    /// When a backup is made, as cron spells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) backup: Option<String>,
    /// The data stay when the Wiki goes.
    #[serde(default)]
    pub(crate) keep: bool,
    /// Everything stays as it is.
    #[serde(default)]
    pub(crate) paused: bool,
}

/// Observed state of a wiki.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WikiStatus {
    /// One for each region, and Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub(crate) conditions: Vec<Condition>,
    /// The generation of the spec that this is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) observed_generation: Option<i64>,
    /// Its address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// The version that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
}

/// A type of its own, so that nobody prints it.
#[derive(Clone)]
pub(crate) struct Login(pub(crate) Vec<u8>);

/// The label of the Pods.
pub(crate) const APP: &str = "examples.test/wiki";

lifecycle! {
    /// A wiki: a web server with its data, a password that nobody chose, and a
    /// migration for each version.
    resource Wiki;

    observe {
        data:     owned PersistentVolumeClaim by name meta.name retain when keeps;
        password: owned Secret                by name meta.name;
    }
    facts {
        /// It is left alone.
        paused: bool from self;
        /// The data stay when the Wiki goes.
        keeps: bool from self;
        /// The password of the admin. Made once, at random.
        mint login: Login in password;
        taken = any(password, data) == Foreign;
    }
    states {
        Paused    when paused => Suspended wakes self;
        Taken     when taken => Error wakes password, data, self;
        Leaving   when any(password, data) == Terminating => Pending;
        Occupied  when data == Adoptable && !keeps => Error wakes data, self;
        Preparing when any(password, data) in { Absent, Stale } || data == Adoptable => Pending;
    }
    effects {
        apply password from login;
        adopt data without retain when keeps;
        apply data;
    }
    transitions {
        Leaving -> Occupied | Preparing;
    }
    teardown {
        serve until drained || server in { Absent, Foreign };
    }
    status {
        condition Prepared {
            False "NameTaken" when taken;
            False "DataExist" when data == Adoptable && !keeps;
            True when password == Current && data == Current;
            Unknown "Working" otherwise;
        }
        ready from Prepared, Migrated, Available;
        field url: Option<String> from service;
        field version: Option<String> from server;
        kstatus;
    }

    /// The database is brought to the wanted version.
    region migrate {
        observe {
            made:      record of migration;
            done:      record String;
            migration: owned Job by ref given done in { Absent, Stale };
        }
        facts {
            /// How the migration to this version is.
            migrated: { Going, Failed, Done } from migration given migration in { New, Made } else Going;
        }
        states {
            Occupying  when migration == Foreign => Error wakes migration, self;
            Clearing   when migration == Terminating => Pending;
            Noting     when migration == New => Pending;
            Starting   when done != Current && migration == Absent => Pending;
            Recording  when done != Current && migrated == Done => Pending;
            Unmigrated when done != Current && migrated == Failed => Error wakes migration, self;
            Migrating  when done != Current && migration == Made => Pending overdue 30min;
            Lost       when done != Current => Error wakes self;
            goal Migrated when done == Current => Ready;
        }
        effects {
            apply done when migrated == Done;
            create migration from password, data when done != Current;
        }
        promises {
            migrates: migration in { New, Made } && migrated == Going sets { migrated = Done } or { migrated = Failed };
        }
        status {
            condition Migrated {
                False "NameTaken" when migration == Foreign;
                True when done == Current;
                False "Failed" when migrated == Failed;
                False "Lost" "The Job of this version is gone, and nobody heard how it ended" when migration == Gone;
                Unknown "Working" otherwise;
            }
        }
    }

    /// The Pods, and the Service in front of them.
    region serve {
        observe {
            server:  owned StatefulSet by name meta.name;
            service: owned Service     by name meta.name;
        }
        facts {
            /// Progress of the Pods to this version.
            served: { Going, Done } from server given server == Current else Going;
            /// No Pod is left.
            drained: bool from server given server in { Stale, Current } else false;
        }
        states {
            Barred    when any(server, service) == Foreign => Error wakes server, service, self;
            Replacing when any(server, service) == Terminating => Pending;
            Naming    when service in { Absent, Stale } => Pending;
            Waiting   when migrate != Migrated => Pending wakes migrate;
            Deploying when server in { Absent, Stale } || served == Going => Pending;
            goal Up   when served == Done => Ready;
        }
        effects {
            apply service;
            serve: apply server when migrate == Migrated;
        }
        promises {
            rolls_out: served == Going && server == Current sets { served = Done };
            drains: !drained && server == Current sets { drained = true };
        }
        status {
            condition Available {
                False "NameTaken" when any(server, service) == Foreign;
                True when served == Done && service == Current && migrate == Migrated;
                Unknown "Working" otherwise;
            }
        }
    }

    /// The way in from outside, if there is a host.
    region expose {
        observe { ingress: owned Ingress by name meta.name if spec.host; }
        states {
            Rival    when ingress == Foreign => Error wakes ingress, self;
            Rejected when refused(apply_ingress) => Error wakes self;
            Exposing when ingress != Current => Pending;
            goal Exposed when ingress == Current => Ready;
        }
        effects { apply ingress; }
        status {
            condition Exposed {
                False "NameTaken" when ingress == Foreign;
                False "Refused" when refused(apply_ingress);
                True when ingress == Current;
                Unknown "Working" otherwise;
            }
        }
    }

    /// A copy of the data every night, if there is a schedule.
    region backup {
        observe { nightly: owned CronJob by name meta.name if spec.backup; }
        states {
            Blocked     when nightly == Foreign => Error wakes nightly, self;
            Unscheduled when refused(apply_nightly) => Error wakes self;
            Scheduling  when nightly != Current => Pending;
            goal Scheduled when nightly == Current => Ready;
        }
        effects { apply nightly from data; }
        status {
            condition BackedUp {
                False "NameTaken" when nightly == Foreign;
                False "Refused" when refused(apply_nightly);
                True when nightly == Current;
                Unknown "Working" otherwise;
            }
        }
    }
}

/// The operator of wikis.
pub(crate) fn operator() -> Operator {
    Operator::new("examples.test").run(machine(logic::Logic))
}
