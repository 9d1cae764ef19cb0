//! `SecuredAccess`: a way to Pods of its namespace from outside, with a certificate for it.

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
    /// A Service in front of Pods of its namespace, reached as its type says, and a Certificate for where that is.
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
        /// Whether it says what it must, and its type is one of those that there are.
        validity: { Fine, Incomplete, BadPort, BadType, NoHost } from self;
        /// Whether there is to be a certificate, and whether it is issued here.
        tls:      { None, Given, Issued } from self;
        /// Whether it is known where it is reached.
        resolved: bool from service given validity == Fine && service in { Stale, Current } else false;
        /// Another one has the name of its Service or of its Certificate.
        clash = any(service, certificate) == Foreign;
        /// One of them is not to be written now.
        busy  = any(service, certificate) in { Foreign, Terminating };
    }
    states {
        use managed;
        /// It asks for what cannot be served.
        Invalid         when validity != Fine                                => Error   wakes self;
        /// Another one has the name of its Service or of its Certificate: remove that, or give it another name.
        Clash           when clash                                           => Error   wakes service, certificate, self;
        /// What there was before is going.
        Draining        when any(service, certificate) == Terminating        => Pending;
        /// Its Service and its Certificate are to be written.
        Making          when service != Current || tls == Issued && certificate != Current => Pending;
        /// Its Service has no address yet: if it stays so, look at what gives addresses to Services of its type.
        Unresolved      when !resolved                                       => Pending wakes service;
        /// There is no certificate yet: if it stays so, look at the status of its Certificate, or create the Secret.
        Uncertified     when tls != None && !credentials                                  => Pending wakes credentials, certificate, self;
        /// It is known where it is reached, and there is a certificate for that.
        goal Ready      when resolved                                        => Ready;
    }
    effects {
        apply service from templates when validity == Fine && !busy;
        apply certificate from service, templates when validity == Fine && !busy && service == Current;
    }
    transitions {
        Draining -> Making;
        Making -> Draining | Unresolved | Uncertified | Ready;
        _ -> Clash;
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

/// How Pods are reached from outside.
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
// What is missing is told on the object; the schema asks for it all the same.
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

    /// How it is reached: `local`, `loadbalancer` or `nodeport`; without it, as the controller is told.
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

/// What is known of a SecuredAccess.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecuredAccessStatus {
    /// What every kind reports.
    #[serde(flatten)]
    pub common: Status,

    /// Where it is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoints: Option<Vec<Endpoint>>,

    /// The certificate of the authority, PEM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
}
