//! Address of the grant server, and the names that its certificate must have. Pure.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Secret, Service, ServicePort};
use kube::ResourceExt;
use lifecycle_runtime::Because;

use super::terms;

/// Name of the Service of the grant server, in the namespace of the controller.
pub const SERVICE: &str = "skupper-grant-server";
/// Name of the Secret with the authority of its certificates, there.
pub const AUTHORITY: &str = "skupper-grant-server-ca";
/// The key of a certificate in a Secret.
pub const CERTIFICATE: &str = "tls.crt";
/// The key of a private key in a Secret.
pub const KEY: &str = "tls.key";

/// Annotation on the Service with the address of the grant server, `HOST:PORT`, if the Service
/// itself does not contain it.
pub const ADDRESS: &str = "skupper.io/grant-server-address";

/// Returns the address of the grant server: `HOST:PORT`.
pub fn address(service: Option<&Service>) -> Option<String> {
    let service = service?;
    if let Some(told) = annotated_address(service) {
        return Some(told.to_owned());
    }
    let spec = service.spec.as_ref()?;
    let port = spec.ports.iter().flatten().next()?;
    let host = match spec.type_.as_deref() {
        Some("LoadBalancer") => outside(service).into_iter().next()?,
        Some("ClusterIP") | None => inside(service).into_iter().next()?,
        Some(_) => return None,
    };
    Some(joined(&host, port))
}

fn annotated_address(service: &Service) -> Option<&str> {
    let told = service.annotations().get(ADDRESS)?;
    // As the address of a server, and nothing else.
    let uri: http::uri::Authority = told.parse().ok()?;
    (uri.port_u16().is_some() && !told.contains('@')).then_some(told)
}

fn joined(host: &str, port: &ServicePort) -> String {
    match host.contains(':') {
        true => format!("[{host}]:{}", port.port),
        false => format!("{host}:{}", port.port),
    }
}

/// Returns true if the grant server is reachable, and its clients can verify it.
pub fn reached(
    server: Option<&Service>,
    authority: Option<&Secret>,
    namespace: &str,
) -> Because<bool> {
    if certificate(authority).is_none() {
        let sentence = format!(
            "Secret {AUTHORITY} of namespace {namespace} has no `{CERTIFICATE}` yet: check that the controller runs, and look for grant server errors in its log"
        );
        return Because::new(false, sentence);
    }
    if address(server).is_some() {
        return Because::plain(true);
    }
    let kind = server.and_then(|server| server.spec.as_ref()?.type_.clone());
    let sentence = match kind {
        None if server.is_none() => format!(
            "Service {SERVICE} of namespace {namespace} not found: create it, as the manifest of the controller has it"
        ),
        Some(kind) if kind != "LoadBalancer" && kind != "ClusterIP" => format!(
            "Service {SERVICE} of namespace {namespace} is of type {kind}: make it a LoadBalancer, or set its annotation {ADDRESS} to the HOST:PORT of the grant server"
        ),
        Some(_) | None => format!(
            "Service {SERVICE} of namespace {namespace} has no address yet: if it stays so, check the load balancer controller"
        ),
    };
    Because::new(false, sentence)
}

/// The certificate that verifies it.
pub fn certificate(authority: Option<&Secret>) -> Option<String> {
    let bytes = authority?.data.as_ref()?.get(CERTIFICATE)?;
    let text = String::from_utf8(bytes.0.clone()).ok()?;
    (!text.is_empty() && text.len() <= 16 * terms::LONGEST).then_some(text)
}

/// Returns all names and addresses by which clients may reach it.
pub fn hosts(service: Option<&Service>) -> BTreeSet<String> {
    let host = |told: &str| {
        let host = told.rsplit_once(':').map_or(told, |(host, _)| host);
        host.trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned()
    };
    let told = service.and_then(annotated_address).map(host);
    let of_service = service
        .iter()
        .flat_map(|s| [outside(s), inside(s)])
        .flatten();
    told.into_iter().chain(of_service).collect()
}

/// Returns the addresses at a load balancer.
fn outside(service: &Service) -> Vec<String> {
    let status = service
        .status
        .as_ref()
        .and_then(|s| s.load_balancer.as_ref());
    let all = status
        .and_then(|s| s.ingress.as_ref())
        .into_iter()
        .flatten();
    let hosts = all.flat_map(|one| [one.hostname.clone(), one.ip.clone()]);
    hosts.flatten().filter(|host| !host.is_empty()).collect()
}

/// Returns the addresses inside the cluster.
fn inside(service: &Service) -> Vec<String> {
    let name = format!(
        "{}.{}",
        service.name_any(),
        service.namespace().unwrap_or_default()
    );
    let mut all = vec![
        name.clone(),
        format!("{name}.svc"),
        format!("{name}.svc.cluster.local"),
    ];
    let spec = service.spec.as_ref();
    let addresses = spec
        .and_then(|spec| spec.cluster_ips.clone())
        .unwrap_or_default();
    let plain = spec.and_then(|spec| spec.cluster_ip.clone());
    let addresses = addresses.into_iter().chain(plain);
    all.extend(addresses.filter(|ip| !ip.is_empty() && ip != "None"));
    all
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn service(spec: Value, ingress: Value) -> Service {
        let service = json!({
            "metadata": { "name": SERVICE, "namespace": "skupper" },
            "spec": spec, "status": { "loadBalancer": { "ingress": ingress } },
        });
        serde_json::from_value(service).unwrap()
    }

    fn check(spec: Value, ingress: Value, expected: Option<&str>) {
        let address = address(Some(&service(spec, ingress)));
        assert_eq!(address.as_deref(), expected);
    }

    #[test]
    fn it_is_reached_where_its_service_says() {
        let of = |kind: &str| json!({ "type": kind, "clusterIP": "10.0.0.1", "ports": [{ "port": 8443 }] });
        check(
            of("ClusterIP"),
            json!([]),
            Some("skupper-grant-server.skupper:8443"),
        );
        check(of("LoadBalancer"), json!([]), None);
        check(
            of("LoadBalancer"),
            json!([{ "ip": "192.0.2.1" }]),
            Some("192.0.2.1:8443"),
        );
        check(
            of("LoadBalancer"),
            json!([{ "ip": "fd00::1" }]),
            Some("[fd00::1]:8443"),
        );
        let both = json!([{ "ip": "192.0.2.1", "hostname": "lb.example.com" }]);
        check(of("LoadBalancer"), both, Some("lb.example.com:8443"));
        check(of("NodePort"), json!([]), None);
        check(json!({ "ports": [] }), json!([]), None);
        assert_eq!(address(None), None);
        let says = |told: &str| {
            let mut service = service(of("NodePort"), json!([]));
            service
                .annotations_mut()
                .insert(ADDRESS.to_owned(), told.to_owned());
            address(Some(&service))
        };
        let told = "grants.example.com:443";
        assert_eq!(says(told).as_deref(), Some(told));
        assert_eq!(says("[fd00::1]:443").as_deref(), Some("[fd00::1]:443"));
        for wrong in ["", "grants.example.com", "a@b:1", "a b:1", "https://a:1/x"] {
            assert_eq!(says(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn its_certificate_is_for_all_by_which_it_is_asked() {
        let spec = json!({ "clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1", "fd00::9"] });
        let mut service = service(spec, json!([{ "ip": "192.0.2.1" }]));
        let told = "[fd00::1]:443".to_owned();
        service.annotations_mut().insert(ADDRESS.to_owned(), told);
        let hosts = hosts(Some(&service));
        for host in [
            "fd00::1",
            "10.0.0.1",
            "fd00::9",
            "192.0.2.1",
            "skupper-grant-server.skupper.svc",
        ] {
            assert!(hosts.contains(host), "{host}: {hosts:?}");
        }
        assert_eq!(super::hosts(None).len(), 0);
    }

    #[test]
    fn what_is_missing_is_said() {
        let data = json!({ "metadata": {}, "data": { "tls.crt": "YWJj" } });
        let secret: Secret = serde_json::from_value(data).unwrap();
        let reached = |service: Option<&Service>, secret: Option<&Secret>| {
            let answer = super::reached(service, secret, "skupper");
            (answer.value, answer.sentence)
        };
        let (is, said) = reached(None, None);
        assert!(!is && said.contains("skupper-grant-server-ca"), "{said}");
        let (is, said) = reached(None, Some(&secret));
        assert!(!is && said.contains("not found"), "{said}");
        let waiting = service(
            json!({ "type": "LoadBalancer", "ports": [{ "port": 1 }] }),
            json!([]),
        );
        let (is, said) = reached(Some(&waiting), Some(&secret));
        assert!(!is && said.contains("no address yet"), "{said}");
        let ports = service(
            json!({ "type": "NodePort", "ports": [{ "port": 1 }] }),
            json!([]),
        );
        let (is, said) = reached(Some(&ports), Some(&secret));
        assert!(!is && said.contains("is of type NodePort"), "{said}");
        let inside = service(json!({ "ports": [{ "port": 1 }] }), json!([]));
        assert!(reached(Some(&inside), Some(&secret)).0);
    }
}
