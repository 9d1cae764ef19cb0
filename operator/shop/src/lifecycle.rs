//! Fields that a user writes and reads of each Shop, and its lifecycle: its observations, its
//! states, and the effects in each state.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Secret};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, CustomResourceExt};
use lifecycle_runtime::lifecycle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state that a user declares.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "shop.example.org",
    version = "v1alpha1",
    kind = "Shop",
    plural = "shops",
    singular = "shop",
    namespaced,
    status = "ShopStatus",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].status"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct ShopSpec {
    /// The image of server and migration, without its tag.
    pub image: String,
    /// The tag of the image. Before another version serves, its migration has run.
    #[schemars(regex(pattern = "^[a-z0-9]([a-z0-9.-]{0,18}[a-z0-9])?$"))]
    pub version: String,
    /// True if the data stay when the Shop is deleted.
    #[serde(default)]
    pub keep_data: bool,
}

/// Status that a user reads.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ShopStatus {
    /// Migrated, Available, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
}

/// Credentials for the database. A type of its own, so that the login is never printed.
pub struct Login(pub Vec<u8>);

lifecycle! {
    /// A shop: a web server with its own database and a generated password.
    resource Shop;

    observe {
        password:  owned Secret                by name meta.name;
        data:      owned PersistentVolumeClaim by name meta.name retain when keeps;
        migration: owned Job                   by ref;
        server:    owned Deployment            by name meta.name;
    }
    facts {
        /// True if the data stay when the Shop is deleted.
        keeps: bool from self;
        /// Credentials for the database. Generated once, at random.
        mint login: Login in password;
        /// How far the migration to this version is.
        migrated: { Going, Failed, Done } from migration given migration == Current else Going;
        /// Progress towards every copy of the server running this version.
        served: { Going, Failed, Done } from server given server == Current else Going;
        taken = any(password, data, migration, server) == Foreign;
        leaving = any(password, data, migration, server) == Terminating;
    }
    states {
        Taken       when taken                          => Error wakes password, data, migration, server, self;
        Draining    when leaving                        => Pending;
        Occupied    when data == Adoptable && !keeps    => Error wakes data, self;
        Starting    when password in { Absent, Stale }  => Pending;
        Claiming    when data in { Absent, Adoptable, Stale } => Pending;
        Migrating   when migration in { Absent, Stale } || migrated == Going => Pending overdue 30min;
        Unmigrated  when migrated == Failed             => Error wakes migration, self;
        Deploying   when server in { Absent, Stale } || served == Going => Pending;
        Stuck       when served == Failed               => Error wakes server, self;
        goal Ready  when served == Done                 => Ready;
    }
    effects {
        apply password from login;
        adopt data without retain when keeps;
        apply data;
        apply migration from password, data when password == Current && data == Current;
        apply server from password, data when password == Current && data == Current && migrated == Done;
    }
    promises {
        migrates: migration == Current && migrated == Going sets { migrated = Done } or { migrated = Failed };
        rolls_out: server == Current && served == Going sets { served = Done } or { served = Failed };
    }
    properties {
        never apply_server while migrated != Done;
    }
    status {
        condition Migrated {
            False "NameTaken"      when taken;
            False "DataExist"      when data == Adoptable && !keeps;
            Unknown "Replacing"    when leaving;
            True                   when migrated == Done;
            False "Failed"         when migrated == Failed;
            Unknown "Working"      otherwise;
        }
        condition Available {
            True                   when served == Done;
            False "Failed"         when served == Failed;
            Unknown "Working"      otherwise;
        }
        ready from Migrated, Available;
    }
}

/// The definitions of the operator.
pub fn definitions() -> Vec<CustomResourceDefinition> {
    vec![Shop::crd()]
}
