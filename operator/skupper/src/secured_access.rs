//! How a SecuredAccess is reconciled.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service, ServicePort};
use lifecycle_runtime::{Because, Desired, ObjectRef, This};
use lifecycle_specs_skupper::certificate::Certificate;
use lifecycle_specs_skupper::fragments::Managed;
use lifecycle_specs_skupper::secured_access::{
    AccessPort, ApplyCertificate, ApplyService, SecuredAccess, SecuredAccessLogic,
    SecuredAccessSpec, Tls, Validity,
};
use lifecycle_specs_skupper::site::Endpoint;
use serde_json::{Value, json};

use crate::certificate::{AUTHORITY, text};
use crate::config::service::CONTROLLED;
use crate::namespace::controller_id::ControllerId;
use crate::namespace::templates::{self, Templates};
use crate::settings::named;

/// On Services of SecuredAccesses, as the replaced implementation marks them.
const OF_ACCESS: &str = "internal.skupper.io/secured-access";
/// Setting of a SecuredAccess: more names and addresses of its certificate, separated by commas.
pub const NAMES: &str = "subjectAlternativeNames";
/// The types that there are.
const TYPES: &str = "local, loadbalancer or nodeport";

/// Ends the message of a Service that waits for a load balancer.
const BALANCER: &str = ": a load balancer must give it one; where the cluster has none, install one, or choose local or nodeport";

/// How a Service is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AccessType {
    Local,
    Loadbalancer,
    Nodeport,
    /// Without Kubernetes: at the machine itself, where the router listens.
    Machine,
}

impl AccessType {
    fn from_name(name: &str) -> Option<Self> {
        match name {
            "local" => Some(Self::Local),
            "loadbalancer" => Some(Self::Loadbalancer),
            "nodeport" => Some(Self::Nodeport),
            _ => None,
        }
    }

    fn of_service(self) -> &'static str {
        match self {
            Self::Local | Self::Machine => "ClusterIP",
            Self::Loadbalancer => "LoadBalancer",
            Self::Nodeport => "NodePort",
        }
    }
}

/// Default access of sites that do not set one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessDefaults {
    /// The type.
    pub access_type: String,
    /// Types that may be requested; all supported types if empty.
    pub enabled: Vec<String>,
    /// Name or address by which nodes are reachable from other clusters, for the type `nodeport`.
    pub cluster_host: Option<String>,
    /// Without Kubernetes: name or address by which other sites reach this machine. In that case no
    /// access types exist.
    pub machine: Option<String>,
}

impl Default for AccessDefaults {
    fn default() -> Self {
        Self {
            access_type: "loadbalancer".to_owned(),
            enabled: Vec::new(),
            cluster_host: None,
            machine: None,
        }
    }
}

impl AccessDefaults {
    /// Of a machine that others reach by this name or address.
    pub fn of_machine(host: &str) -> Self {
        Self {
            machine: Some(host.to_owned()),
            ..Self::default()
        }
    }

    fn name<'a>(&'a self, said: Option<&'a String>) -> &'a str {
        named(said).unwrap_or(&self.access_type)
    }

    fn enables(&self, name: &str) -> bool {
        self.enabled.is_empty() || self.enabled.iter().any(|enabled| enabled == name)
    }

    /// Why nothing is reached by a type; `None` if it can be.
    pub fn refused(&self, said: Option<&String>) -> Option<String> {
        if self.machine.is_some() {
            return named(said).map(|name| {
                format!("access type \"{name}\" has no meaning without Kubernetes: leave it out, for others reach this machine")
            });
        }
        let name = self.name(said);
        match AccessType::from_name(name) {
            None => Some(format!(
                "access type \"{name}\" is not supported: use {TYPES}"
            )),
            Some(_) if !self.enables(name) => Some(format!(
                "access type \"{name}\" is not enabled: the controller was started with --enabled-access-types={}",
                self.enabled.join(",")
            )),
            Some(AccessType::Nodeport) if self.cluster_host.is_none() => Some(
                "access type \"nodeport\" needs to know where nodes are reached: start the controller with --cluster-host".to_owned(),
            ),
            Some(_) => None,
        }
    }
}

/// Reconciles SecuredAccesses.
#[derive(Clone, Debug)]
pub struct SecuredAccesses {
    /// This controller.
    pub controller_id: ControllerId,
    /// Default access of sites that do not set one.
    pub defaults: AccessDefaults,
}

impl SecuredAccesses {
    fn access_type(&self, spec: &SecuredAccessSpec) -> Option<AccessType> {
        match self.defaults.machine {
            Some(_) => Some(AccessType::Machine),
            None => AccessType::from_name(self.defaults.name(spec.access_type.as_ref())),
        }
    }

    /// Returns the endpoints, as far as the Service reports them.
    fn reached(&self, this: This<'_, SecuredAccess>, service: &Service) -> Vec<Endpoint> {
        let endpoint = |name: &str, host: &str, port: i64| Endpoint {
            name: Some(name.to_owned()),
            host: Some(host.to_owned()),
            port: Some(port.to_string()),
            group: None,
        };
        let own = || this.spec.ports.iter();
        match self.access_type(this.spec) {
            None => Vec::new(),
            Some(AccessType::Local) => {
                let host = in_cluster(this);
                own().map(|p| endpoint(&p.name, &host, p.port)).collect()
            }
            Some(AccessType::Machine) => {
                let host = self.defaults.machine.iter();
                let all = host.flat_map(|host| own().map(move |p| (host, p)));
                all.map(|(host, p)| endpoint(&p.name, host, p.port))
                    .collect()
            }
            Some(AccessType::Loadbalancer) => {
                let host = balanced(service);
                let all = host.iter().flat_map(|host| own().map(move |p| (host, p)));
                all.map(|(host, p)| endpoint(&p.name, host, p.port))
                    .collect()
            }
            Some(AccessType::Nodeport) => {
                let Some(host) = &self.defaults.cluster_host else {
                    return Vec::new();
                };
                let given = given(service);
                let port =
                    |p: &AccessPort| Some(endpoint(&p.name, host, *given.get(p.name.as_str())?));
                own().filter_map(port).collect()
            }
        }
    }
}

/// The name of its Service in the cluster.
fn in_cluster(this: This<'_, SecuredAccess>) -> String {
    let name = this.meta.name.as_deref().unwrap_or_default();
    let namespace = this.meta.namespace.as_deref().unwrap_or_default();
    format!("{name}.{namespace}")
}

/// Returns the first address or host name that a load balancer assigned to a Service.
fn balanced(service: &Service) -> Option<String> {
    let balancer = service.status.as_ref()?.load_balancer.as_ref()?;
    let all = balancer.ingress.iter().flatten();
    let mut hosts = all.flat_map(|to| to.ip.iter().chain(&to.hostname));
    hosts.find(|host| !host.is_empty()).cloned()
}

/// The ports of nodes that a Service was given, by the names of its own.
fn given(service: &Service) -> BTreeMap<&str, i64> {
    let ports = service.spec.iter().flat_map(|spec| &spec.ports).flatten();
    let number = |port: &ServicePort| port.node_port.filter(|number| *number > 0).map(i64::from);
    let all = ports.filter_map(|port| Some((port.name.as_deref()?, number(port)?)));
    all.collect()
}

/// The name of its Certificate and of the Secret.
fn certificate_name(this: This<'_, SecuredAccess>) -> &str {
    let own = this.meta.name.as_deref().unwrap_or_default();
    named(this.spec.certificate.as_ref()).unwrap_or(own)
}

fn no_port(port: i64) -> bool {
    !u16::try_from(port).is_ok_and(|port| port > 0)
}

impl SecuredAccessLogic for SecuredAccesses {
    fn managed(&self) -> &impl Managed<SecuredAccess> {
        &self.controller_id
    }

    fn templates(
        &self,
        this: This<'_, SecuredAccess>,
        _: Option<&ConfigMap>,
    ) -> BTreeSet<ObjectRef> {
        templates::concerning(this.meta, &self.controller_id)
    }

    fn certificate(&self, this: This<'_, SecuredAccess>) -> Option<ObjectRef> {
        let namespace = this.meta.namespace.as_deref();
        Some(ObjectRef::new::<Certificate>(
            namespace,
            certificate_name(this),
        ))
    }

    fn credentials(&self, this: This<'_, SecuredAccess>) -> Option<ObjectRef> {
        let namespace = this.meta.namespace.as_deref();
        Some(ObjectRef::new::<Secret>(namespace, certificate_name(this)))
    }

    fn validity(&self, this: This<'_, SecuredAccess>) -> Because<Validity> {
        let spec = this.spec;
        let lacks = [
            ("selector", spec.selector.is_empty()),
            ("ports", spec.ports.is_empty()),
        ];
        let lacks = lacks.iter().filter(|(_, lacks)| *lacks);
        let lacks: Vec<String> = lacks
            .map(|(name, _)| format!("spec.{name} is required"))
            .collect();
        if !lacks.is_empty() {
            return Because::new(Validity::Incomplete, lacks.join("\n"));
        }
        if let Some(why) = spec.ports.iter().find_map(bad_port) {
            return Because::new(Validity::BadPort, why);
        }
        match self.defaults.refused(spec.access_type.as_ref()) {
            Some(why) => Because::new(Validity::BadType, why),
            None => Because::plain(Validity::Fine),
        }
    }

    fn tls(&self, this: This<'_, SecuredAccess>) -> Because<Tls> {
        let issuer = named(this.spec.issuer.as_ref());
        let name = certificate_name(this);
        let lacks = format!("TLS credentials secret \"{name}\" not found");
        match (issuer, named(this.spec.certificate.as_ref())) {
            (Some(_), _) => Because::new(Tls::Issued, lacks),
            (None, Some(_)) => Because::new(Tls::Given, lacks),
            (None, None) => Because::plain(Tls::None),
        }
    }

    fn resolved(&self, this: This<'_, SecuredAccess>, service: &Service) -> Because<bool> {
        if !self.reached(this, service).is_empty() {
            return Because::plain(true);
        }
        let name = this.meta.name.as_deref().unwrap_or_default();
        let is_balanced = self.access_type(this.spec) == Some(AccessType::Loadbalancer);
        let remedy = if is_balanced { BALANCER } else { "" };
        Because::new(false, format!("Service {name} has no address yet{remedy}"))
    }

    fn apply_service(&self, at: ApplyService<'_>) -> Desired<Service> {
        let spec = at.this.spec;
        let access_type = self.access_type(spec).map(AccessType::of_service);
        let ports: Vec<Value> = spec
            .ports
            .iter()
            .map(|port| {
                let target = port.target_port.filter(|target| *target != 0);
                json!({
                    "name": port.name, "port": port.port, "protocol": "TCP",
                    "targetPort": target.unwrap_or(port.port),
                })
            })
            .collect();
        let service = Desired::from_json(json!({
            "metadata": {
                "name": at.this.meta.name,
                "annotations": { CONTROLLED: "true" },
                "labels": { OF_ACCESS: "true" },
            },
            "spec": { "type": access_type, "selector": spec.selector, "ports": ports },
        }));
        Templates::from_config_maps(&at.templates, &self.controller_id).on(service)
    }

    fn apply_certificate(&self, at: ApplyCertificate<'_>) -> Desired<Certificate> {
        let (this, spec) = (at.this, at.this.spec);
        let reached = self.reached(this, at.service).into_iter();
        let mut hosts: BTreeSet<String> = reached.filter_map(|endpoint| endpoint.host).collect();
        hosts.extend(this.meta.name.clone());
        hosts.insert(in_cluster(this));
        let more = spec.settings.as_ref().and_then(|all| all.get(NAMES));
        let more = more
            .iter()
            .flat_map(|names| names.split(','))
            .map(str::trim);
        hosts.extend(more.filter(|name| !name.is_empty()).map(str::to_owned));
        let certificate = Desired::from_json(json!({
            "metadata": {
                "name": certificate_name(this),
                "annotations": { CONTROLLED: "true" },
            },
            "spec": {
                "ca": spec.issuer, "subject": this.meta.name, "hosts": hosts, "server": true,
            },
        }));
        Templates::from_config_maps(&at.templates, &self.controller_id).on(certificate)
    }

    fn endpoints(&self, this: This<'_, SecuredAccess>, service: &Service) -> Option<Vec<Endpoint>> {
        let reached = self.reached(this, service);
        (!reached.is_empty()).then_some(reached)
    }

    fn ca(&self, _: This<'_, SecuredAccess>, credentials: &Secret) -> Option<String> {
        text(credentials, AUTHORITY).map(str::to_owned)
    }
}

/// Returns the error in a port, or `None` if the port is valid. The message names the port before
/// each number.
fn bad_port(port: &AccessPort) -> Option<String> {
    let name = &port.name;
    let wrong = [
        Some(port.port),
        port.target_port.filter(|target| *target != 0),
    ];
    if let Some(number) = wrong.into_iter().flatten().find(|number| no_port(*number)) {
        return Some(format!(
            "port \"{name}\": {number} is no port: it must be between 1 and 65535"
        ));
    }
    let other = port.protocol.as_ref();
    let other = other.filter(|kind| !kind.is_empty() && *kind != "TCP")?;
    Some(format!(
        "port \"{name}\": protocol \"{other}\" is not supported: leave it out, or set it to \"TCP\""
    ))
}

#[cfg(test)]
mod tests;
