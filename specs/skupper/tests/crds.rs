//! The emitted definitions against the published contract of `skupper.io/v2alpha1`, written down by hand.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::crds;
use lifecycle_specs_skupper::listener::{Listener, Observer};
use lifecycle_tests::definitions;
use serde_json::{Value, json};

/// Fields of each kind. This project adds the bounds of 1000.
const COMMON: &[(&str, &str)] = &[
    ("spec", "object"),
    ("spec.settings", "object {} maxProperties=1000"),
    ("spec.settings{}", "string"),
    ("status", "object"),
    (
        "status.conditions",
        "array x-kubernetes-list-map-keys=[\"type\"] x-kubernetes-list-type=\"map\"",
    ),
    ("status.conditions[]", "object"),
    (
        "status.conditions[].lastTransitionTime",
        "string date-time !",
    ),
    ("status.conditions[].message", "string ! maxLength=32768"),
    (
        "status.conditions[].observedGeneration",
        "integer int64 minimum=0.0",
    ),
    (
        "status.conditions[].reason",
        "string ! maxLength=1024 minLength=1 pattern=\"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$\"",
    ),
    ("status.conditions[].status", "string ! True|False|Unknown"),
    (
        "status.conditions[].type",
        r#"string ! maxLength=316 pattern="^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$""#,
    ),
    ("status.message", "string"),
    ("status.status", "string"),
];

const PORT: &str = "integer int32 ! maximum=65535.0 minimum=1.0";

const LISTENER: &[(&str, &str)] = &[
    ("spec.routingKey", "string !"),
    ("spec.host", "string !"),
    ("spec.port", PORT),
    ("spec.tlsCredentials", "string"),
    ("spec.type", "string"),
    ("spec.observer", "string auto|none|http1|http2"),
    ("spec.exposePodsByName", "boolean"),
    ("status.hasMatchingConnector", "boolean"),
];

const MULTI_KEY_LISTENER: &[(&str, &str)] = &[
    ("spec", "object !"),
    ("spec.host", "string !"),
    ("spec.port", PORT),
    (
        "spec.strategy",
        r#"object ! x-kubernetes-validations=[{"message":"strategy is immutable","rule":"(!has(oldSelf.priority) || has(self.priority)) && (!has(oldSelf.weighted) || has(self.weighted))"},{"message":"exactly one of the fields in [priority weighted] must be set","rule":"[has(self.priority),has(self.weighted)].filter(x,x==true).size() == 1"}]"#,
    ),
    ("spec.strategy.priority", "object"),
    (
        "spec.strategy.priority.routingKeys",
        "array ! maxItems=256 minItems=1 x-kubernetes-list-type=\"set\"",
    ),
    ("spec.strategy.priority.routingKeys[]", "string"),
    ("spec.strategy.weighted", "object"),
    (
        "spec.strategy.weighted.routingKeys",
        "object {} ! maxProperties=256 minProperties=1 x-kubernetes-map-type=\"granular\"",
    ),
    ("spec.strategy.weighted.routingKeys{}", "integer int64"),
    ("spec.tlsCredentials", "string"),
    ("spec.requireClientCert", "boolean"),
    ("spec.observer", "string auto|none|http1|http2"),
    ("status.hasDestination", "boolean"),
    (
        "status.strategy",
        r#"object x-kubernetes-validations=[{"message":"exactly one of the fields in [priority weighted] must be set","rule":"[has(self.priority),has(self.weighted)].filter(x,x==true).size() == 1"}]"#,
    ),
    ("status.strategy.priority", "object"),
    ("status.strategy.priority.routingKeysReachable", "array !"),
    ("status.strategy.priority.routingKeysReachable[]", "string"),
    ("status.strategy.weighted", "object"),
    (
        "status.strategy.weighted.routingKeysReachable",
        "object {} ! x-kubernetes-map-type=\"granular\"",
    ),
    (
        "status.strategy.weighted.routingKeysReachable{}",
        "integer int64",
    ),
];

const CONNECTOR: &[(&str, &str)] = &[
    (
        "spec",
        "object oneOf=[{\"required\":[\"host\"]},{\"required\":[\"selector\"]}]",
    ),
    ("spec.routingKey", "string !"),
    ("spec.port", PORT),
    ("spec.selector", "string"),
    ("spec.host", "string"),
    ("spec.tlsCredentials", "string"),
    ("spec.useClientCert", "boolean"),
    ("spec.verifyHostname", "boolean"),
    ("spec.type", "string"),
    ("spec.includeNotReadyPods", "boolean"),
    ("spec.exposePodsByName", "boolean"),
    ("status.hasMatchingListener", "boolean"),
    ("status.selectedPods", "array"),
    ("status.selectedPods[]", "object"),
    ("status.selectedPods[].name", "string !"),
    ("status.selectedPods[].ip", "string !"),
];

const ATTACHED: &[(&str, &str)] = &[
    ("spec.siteNamespace", "string !"),
    ("spec.selector", "string !"),
    ("spec.port", PORT),
    ("spec.tlsCredentials", "string"),
    ("spec.useClientCert", "boolean"),
    ("spec.type", "string"),
    ("spec.includeNotReadyPods", "boolean"),
];

const BINDING: &[(&str, &str)] = &[
    ("spec.connectorNamespace", "string !"),
    ("spec.routingKey", "string !"),
    ("spec.exposePodsByName", "boolean"),
];

const CERTIFICATE: &[(&str, &str)] = &[
    ("spec.ca", "string !"),
    ("spec.subject", "string !"),
    ("spec.hosts", "array maxItems=1000"),
    ("spec.hosts[]", "string"),
    ("spec.client", "boolean"),
    ("spec.server", "boolean"),
    ("spec.signing", "boolean"),
    ("status.expiration", "string date-time"),
];

const ENDPOINTS: [(&str, &str); 6] = [
    ("status.endpoints", "array"),
    ("status.endpoints[]", "object"),
    ("status.endpoints[].name", "string"),
    ("status.endpoints[].host", "string"),
    ("status.endpoints[].port", "string"),
    ("status.endpoints[].group", "string"),
];

const SECURED_ACCESS: &[(&str, &str)] = &[
    ("spec.ports", "array ! maxItems=1000"),
    ("spec.ports[]", "object"),
    ("spec.ports[].name", "string !"),
    ("spec.ports[].port", "integer int32 !"),
    ("spec.ports[].targetPort", "integer int32"),
    ("spec.ports[].protocol", "string"),
    ("spec.selector", "object {} ! maxProperties=1000"),
    ("spec.selector{}", "string"),
    ("spec.issuer", "string"),
    ("spec.certificate", "string"),
    ("spec.accessType", "string"),
    ("status.ca", "string"),
];

const ROUTER_ACCESS: &[(&str, &str)] = &[
    ("spec.roles", "array ! maxItems=1000"),
    ("spec.roles[]", "object"),
    ("spec.roles[].name", "string !"),
    ("spec.roles[].port", "integer int32"),
    ("spec.tlsCredentials", "string !"),
    ("spec.generateTlsCredentials", "boolean"),
    ("spec.issuer", "string"),
    ("spec.accessType", "string"),
    ("spec.bindHost", "string"),
    ("spec.subjectAlternativeNames", "array maxItems=1000"),
    ("spec.subjectAlternativeNames[]", "string"),
];

const SITE: &[(&str, &str)] = &[
    ("spec.serviceAccount", "string"),
    ("spec.linkAccess", "string"),
    ("spec.defaultIssuer", "string"),
    ("spec.edge", "boolean"),
    ("spec.ha", "boolean"),
    ("status.endpoints", "array"),
    ("status.endpoints[]", "object"),
    ("status.endpoints[].name", "string"),
    ("status.endpoints[].host", "string"),
    ("status.endpoints[].port", "string"),
    ("status.endpoints[].group", "string"),
    ("status.sitesInNetwork", "integer int32"),
    ("status.network", "array"),
    ("status.network[]", "object"),
    ("status.network[].id", "string"),
    ("status.network[].name", "string"),
    ("status.network[].namespace", "string"),
    ("status.network[].platform", "string"),
    ("status.network[].version", "string"),
    ("status.network[].links", "array"),
    ("status.network[].links[]", "object"),
    ("status.network[].links[].name", "string"),
    ("status.network[].links[].remoteSiteId", "string"),
    ("status.network[].links[].remoteSiteName", "string"),
    ("status.network[].links[].operational", "boolean"),
    ("status.network[].services", "array"),
    ("status.network[].services[]", "object"),
    ("status.network[].services[].routingKey", "string"),
    ("status.network[].services[].connectors", "array"),
    ("status.network[].services[].connectors[]", "string"),
    ("status.network[].services[].listeners", "array"),
    ("status.network[].services[].listeners[]", "string"),
    ("status.defaultIssuer", "string"),
    ("status.controller", "object"),
    ("status.controller.name", "string"),
    ("status.controller.namespace", "string"),
    ("status.controller.version", "string"),
];

const LINK: &[(&str, &str)] = &[
    ("spec.endpoints", "array ! maxItems=1000"),
    ("spec.endpoints[]", "object"),
    ("spec.endpoints[].name", "string"),
    ("spec.endpoints[].host", "string"),
    ("spec.endpoints[].port", "string"),
    ("spec.endpoints[].group", "string"),
    ("spec.tlsCredentials", "string"),
    ("spec.cost", "integer int32"),
    ("status.remoteSiteId", "string"),
    ("status.remoteSiteName", "string"),
];

const GRANT: &[(&str, &str)] = &[
    ("spec.redemptionsAllowed", "integer int32"),
    ("spec.expirationWindow", "string duration"),
    ("spec.code", "string"),
    ("spec.issuer", "string"),
    ("status.url", "string"),
    ("status.code", "string"),
    ("status.ca", "string"),
    ("status.redemptions", "integer int32"),
    ("status.expirationTime", "string date-time"),
];

const TOKEN: &[(&str, &str)] = &[
    ("spec.url", "string !"),
    ("spec.code", "string !"),
    ("spec.ca", "string !"),
    ("spec.linkCost", "integer int32"),
    ("status.redeemed", "boolean"),
];

fn definition(kind: &str) -> Value {
    let all = serde_json::to_value(crds()).unwrap();
    let mut all = all.as_array().unwrap().iter();
    all.find(|d| d["spec"]["names"]["kind"] == kind)
        .unwrap()
        .clone()
}

fn check(kind: &str, own: &[(&str, &str)], additions: &[&str]) {
    let schema = &definition(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let is_told = |path: &str| own.iter().any(|(told, _)| *told == path);
    let common = COMMON.iter().filter(|(path, _)| !is_told(path));
    let expected: Vec<_> = common.chain(own).copied().collect();
    definitions::check(kind, schema, &expected, additions);
    // Except for one kind, an object without spec passes.
    let required = (kind == "MultiKeyListener").then(|| json!(["spec"]));
    assert_eq!(schema.get("required"), required.as_ref());
}

fn columns(definition: &Value) -> Vec<String> {
    let columns = &definition["spec"]["versions"][0]["additionalPrinterColumns"];
    let columns = columns.as_array().unwrap().iter();
    columns
        .map(|column| column["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn every_kind_equals_the_contract_but_for_what_it_asks_for() {
    check("Site", SITE, &[]);
    check("Listener", LISTENER, &["spec.requireClientCert"]);
    check("MultiKeyListener", MULTI_KEY_LISTENER, &[]);
    check("Connector", CONNECTOR, &[]);
    check("Link", LINK, &[]);
    check("AccessGrant", GRANT, &[]);
    check("AccessToken", TOKEN, &[]);
    check("AttachedConnector", ATTACHED, &["status.selectedPods"]);
    let added = ["status.hasMatchingListener"];
    check("AttachedConnectorBinding", BINDING, &added);
    check("Certificate", CERTIFICATE, &[]);
    check("SecuredAccess", &[SECURED_ACCESS, &ENDPOINTS].concat(), &[]);
    check("RouterAccess", &[ROUTER_ACCESS, &ENDPOINTS].concat(), &[]);
}

/// Kind, plural and short name, and the titles of its columns.
const NAMES: &[(&str, &str, &str, &[&str])] = &[
    (
        "Site",
        "sites",
        "st",
        &["Status", "Sites In Network", "Message"],
    ),
    (
        "Listener",
        "listeners",
        "lnr",
        &[
            "Routing Key",
            "Port",
            "Host",
            "Status",
            "Has Matching Connector",
            "Message",
        ],
    ),
    (
        "Connector",
        "connectors",
        "cnr",
        &[
            "Routing Key",
            "Port",
            "Host",
            "Selector",
            "Status",
            "Has Matching Listener",
            "Message",
        ],
    ),
    ("Link", "links", "ln", &["Status", "Remote Site", "Message"]),
];

#[test]
fn names_and_columns_equal_the_contract() {
    for (kind, plural, short, expected) in NAMES.iter().copied() {
        let definition = definition(kind);
        let spec = &definition["spec"];
        assert_eq!(
            definition["metadata"]["name"],
            format!("{plural}.skupper.io")
        );
        assert_eq!(spec["names"]["shortNames"], json!([short]));
        assert_eq!(spec["scope"], "Namespaced");
        assert_eq!(spec["versions"][0]["name"], "v2alpha1");
        assert!(spec["versions"][0]["subresources"]["status"].is_object());
        assert_eq!(columns(&definition), expected);
    }
    for (kind, short, expected) in [
        (
            "AccessGrant",
            ["grant", "gr"],
            &[
                "Redemptions Allowed",
                "Redemptions Made",
                "Expiration",
                "Status",
                "Message",
            ][..],
        ),
        (
            "AccessToken",
            ["token", "to"],
            &["URL", "Redeemed", "Status", "Message"],
        ),
    ] {
        let definition = definition(kind);
        assert_eq!(definition["spec"]["names"]["shortNames"], json!(short));
        assert_eq!(columns(&definition), expected);
    }
    // In the order of the published definitions, and then the message, which is an addition.
    for (kind, short, expected) in [
        (
            "AttachedConnector",
            "acnr",
            &["Port", "Selector", "Site Namespace", "Status", "Message"],
        ),
        (
            "AttachedConnectorBinding",
            "acnrb",
            &[
                "Routing Key",
                "Connector Namespace",
                "Status",
                "Has Matching Listener",
                "Message",
            ],
        ),
    ] {
        let definition = definition(kind);
        assert_eq!(definition["spec"]["names"]["shortNames"], json!([short]));
        assert_eq!(columns(&definition), expected);
    }
}

/// Checks that kinds that the controllers use among themselves have no short names.
#[test]
fn names_and_columns_of_kinds_without_a_short_name_equal_the_contract() {
    for (kind, plural, expected) in [
        (
            "Certificate",
            "certificates",
            &[
                "CA",
                "Server",
                "Client",
                "Signing",
                "Status",
                "Expiration",
                "Message",
            ][..],
        ),
        (
            "MultiKeyListener",
            "multikeylisteners",
            &["Status", "Message", "HasDestination"],
        ),
        ("SecuredAccess", "securedaccesses", &["Status", "Message"]),
        ("RouterAccess", "routeraccesses", &["Status", "Message"]),
    ] {
        let definition = definition(kind);
        let name = format!("{plural}.skupper.io");
        assert_eq!(definition["metadata"]["name"], name);
        assert_eq!(definition["spec"]["names"].get("shortNames"), None);
        assert_eq!(columns(&definition), expected);
    }
}

/// Checks that objects written for the existing implementation can be read, and that unset fields
/// are not written.
#[test]
fn plain_objects_are_read_and_written() {
    let listener = json!({
        "apiVersion": "skupper.io/v2alpha1", "kind": "Listener",
        "metadata": { "name": "backend" },
        "spec": { "routingKey": "backend", "host": "backend", "port": 8080, "observer": "http2" },
    });
    let read: Listener = serde_json::from_value(listener.clone()).unwrap();
    assert_eq!(read.spec.observer, Some(Observer::Http2));
    assert_eq!(serde_json::to_value(&read).unwrap(), listener);
    let connector = json!({
        "apiVersion": "skupper.io/v2alpha1", "kind": "Connector", "metadata": {},
        "spec": { "routingKey": "backend", "host": "10.0.0.1", "port": 8080 },
    });
    let read: Connector = serde_json::from_value(connector.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), connector);
}
