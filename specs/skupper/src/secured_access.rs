//! `SecuredAccess`: external access to Pods of its namespace, with a certificate.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use kube::CustomResource;
use lifecycle_runtime::lifecycle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::certificate::Certificate;
use super::fragments::managed;
use super::site::Endpoint;
use super::status::Status;

lifecycle! {
    /// Creates a Service in front of Pods of its namespace, of the requested access type, and a
    /// Certificate for its address.
    resource SecuredAccess;

    lock "secured_access.lock";

    use managed;

    observe {
        templates:         [ConfigMap]       by refs of controller_config;
        // As the replaced implementation owns them.
        service:           owned Service     without controller by name meta.name exclusive spec.ports;
        certificate:       owned Certificate without controller by ref given tls == Issued;
        credentials:       Secret            by ref given tls != None;
    }
    facts {
        /// Validity of the specification: `Fine` if it has all required fields, and its type
        /// exists.
        validity: { Fine, Incomplete, BadPort, BadType, NoHost } from self;
        /// Origin of the certificate: `None` if there is none, `Issued` if it is issued here.
        tls:      { None, Given, Issued } from self;
        /// True if the address at which it is reached is known.
        resolved: bool from service given validity == Fine && service in { Stale, Current } else false;
        /// Another one has the name of its Service or of its Certificate.
        clash = any(service, certificate) == Foreign;
        /// One of them is not to be written now.
        busy  = any(service, certificate) in { Foreign, Terminating };
    }
    states {
        use managed;
        /// The spec requests something that cannot be served.
        Invalid         when validity != Fine                                => Error   wakes self;
        /// Another one has the name of its Service or of its Certificate: remove that, or give it another name.
        Clash           when clash                                           => Error   wakes service, certificate, self;
        /// The previous Service or Certificate is still being deleted.
        Draining        when any(service, certificate) == Terminating        => Pending;
        /// The Service and the Certificate have to be written.
        Making          when service != Current || tls == Issued && certificate != Current => Pending;
        /// The Service has no address yet: if this persists, check the provider of addresses for
        /// Services of its type.
        Unresolved      when !resolved                                       => Pending wakes service;
        /// There is no certificate yet: if this persists, check the status of its Certificate, or
        /// create the Secret.
        Uncertified     when tls != None && !credentials                                  => Pending wakes credentials, certificate, self;
        /// The address is known, and there is a certificate for it.
        goal Ready      when resolved                                        => Ready;
    }
    effects {
        apply service from templates when validity == Fine && !busy;
        apply certificate from service, templates when validity == Fine && !busy && service == Current;
    }
    transitions {
        Draining -> Making;
        Making -> Unresolved | Uncertified | Ready;
    }
    status {
        condition Configured {
            False "Error" when validity != Fine;
            False "Error" when clash;
            False "Pending" when service != Current || tls == Issued && certificate != Current;
            False "Pending" when tls != None && !credentials;
            True "Ready" "OK" otherwise;
        }
        condition Resolved {
            True "Ready" "OK" when resolved;
            False "Pending" otherwise;
        }
        ready "Ready" "OK" from Configured, Resolved;
        field endpoints: Option<Vec<Endpoint>> from service;
        field ca: Option<String> from credentials;
    }
}

/// External access to Pods.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "skupper.io",
    version = "v2alpha1",
    kind = "SecuredAccess",
    plural = "securedaccesses",
    singular = "securedaccess",
    namespaced,
    status = "SecuredAccessStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "A way to Pods of its namespace from outside, with a certificate for it.",
    printcolumn = r#"{"name": "Status", "type": "string", "jsonPath": ".status.status"}"#,
    printcolumn = r#"{"name": "Message", "type": "string", "jsonPath": ".status.message"}"#
)]
// Missing fields are reported on the object, although the schema requires them as well.
#[serde(rename_all = "camelCase", default)]
#[schemars(!default)]
pub struct SecuredAccessSpec {
    /// The ports that are reached.
    pub ports: Vec<AccessPort>,

    /// Labels of the Pods.
    pub selector: BTreeMap<String, String>,

    /// Name of the Secret with the authority that signs the certificate; without it none is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,

    /// Name of the Certificate, and so of its Secret; without it, that of the SecuredAccess.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,

    /// Type of access: `local`, `loadbalancer` or `nodeport`. If unset, the controller's default
    /// applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_type: Option<String>,

    /// Further settings by name: `subjectAlternativeNames`, more names and addresses of the certificate, separated by commas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
}

/// A port that is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessPort {
    /// Its name.
    pub name: String,

    /// Its number.
    // Wide enough for any number that was stored under another definition.
    #[schemars(with = "i32")]
    pub port: i64,

    /// The port of the Pods; without it, the same number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<i32>")]
    pub target_port: Option<i64>,

    /// Nothing, or `TCP`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
}

/// Observed state of a SecuredAccess.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecuredAccessStatus {
    /// Status fields that every kind reports.
    #[serde(flatten)]
    pub common: Status,

    /// Endpoints at which it is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoints: Option<Vec<Endpoint>>,

    /// The certificate of the authority, PEM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
}
