//! The path from Pending to Ready to traffic, and the effect on connections when files,
//! certificates and processes come and go.

use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use std::net::TcpStream;
use std::path::Path;

use super::support::{
    Site, connector, echo, echo_at, echoes, eventually, goes_on, object, refused, site_of,
};

pub(crate) fn cases() -> Vec<Case> {
    named![blocking(&[]): the_example_of_the_documentation_is_served, a_site_of_files_comes_to_ready_and_carries_bytes, s21_s22_without_a_site_and_when_it_comes_later, s29_the_last_connector_goes_and_comes_back, s47_s48_s49_an_edited_file_changes_what_is_served, s51_unrelated_changes_drop_nothing, a_selector_finds_nothing_and_says_so, several_keys_are_offered_at_one_port, s18_s20_what_cannot_be_listened_at_is_told, s58_certificates_of_clients_without_credentials_are_an_error_and_no_socket]
}

/// The example runs at an address of the test, because the address in the document may be in use.
fn the_example_of_the_documentation_is_served() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/skupper.md");
    let text = std::fs::read_to_string(document).unwrap();
    let (_, section) = text.split_once("\n## Without Kubernetes\n").unwrap();
    let (_, example) = section.split_once("```yaml\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let mut site = Site::new();
    site.write("shop.yaml", &example.replace("127.0.0.1", &site.address));
    echo_at((site.address.clone(), 9000));
    site.start();
    echoes(&site.listener_address(8080));
    for object in ["Site-west", "Connector-shop", "Listener-shop"] {
        site.until(object, "Ready", "OK");
    }
    site.until_whole();
}

fn a_site_of_files_comes_to_ready_and_carries_bytes() {
    let mut site = Site::new();
    site.start();
    // The directory is empty; not even the folders exist.
    site.write("site.yaml", &site_of("west"));
    site.until("Site-west", "Ready", "OK");
    assert_eq!(
        site.value("Site-west", "status.network")[0]["platform"],
        "linux"
    );
    site.write("listener.yaml", &site.listener("web", 8080, ""));
    site.until("Listener-web", "Pending", "No matching connectors");
    let configured = site.value("Listener-web", "status.conditions");
    assert!(
        configured.to_string().contains("Configured"),
        "{configured}"
    );
    refused(&site.listener_address(8080));
    site.write("connector.yaml", &connector("web", echo()));
    site.until("Listener-web", "Ready", "OK");
    site.until("Connector-web", "Ready", "OK");
    assert_eq!(
        site.value("Listener-web", "status.hasMatchingConnector"),
        true
    );
    echoes(&site.listener_address(8080));
    // Of the port that a router has in a Pod nothing is bound here.
    refused(&site.listener_address(1024));
    assert_eq!(site.stop(), Some(0));
    refused(&site.listener_address(8080));
}

fn several_keys_are_offered_at_one_port() {
    let mut site = Site::running();
    let spec = |strategy: &str| {
        let address = &site.address;
        format!("host: {address}, port: 8080, strategy: {{{strategy}}}")
    };
    let keys = spec("priority: {routingKeys: [other, key]}");
    let weights = spec("weighted: {routingKeys: {key: 1}}");
    let empty = spec("priority: {routingKeys: [key, '']}");
    site.write("db.yaml", &object("MultiKeyListener", "db", &keys));
    site.until("MultiKeyListener-db", "Pending", "No matching connectors");
    refused(&site.listener_address(8080));
    site.write("connector.yaml", &connector("web", echo()));
    site.until("MultiKeyListener-db", "Ready", "OK");
    let reachable = "status.strategy.priority.routingKeysReachable";
    let reached = site.value("MultiKeyListener-db", reachable);
    assert_eq!(reached, serde_json::json!(["key"]));
    echoes(&site.listener_address(8080));
    // The Listener keeps its port, also after a restart, whatever other Listener precedes it by
    // name.
    site.stop();
    site.write("a.yaml", &site.listener("a", 8080, ""));
    site.start();
    let taken = format!(
        "MultiKeyListener db with host {} and port 8080 already exists in namespace",
        site.address
    );
    site.until("Listener-a", "Error", &taken);
    site.until("MultiKeyListener-db", "Ready", "OK");
    echoes(&site.listener_address(8080));
    // An invalid change is reported for the file, and the earlier object stays.
    site.write("db.yaml", &object("MultiKeyListener", "db", &weights));
    let told = site.until_told("MultiKeyListener db cannot be used");
    assert!(told.contains("strategy is immutable"), "{told}");
    echoes(&site.listener_address(8080));
    // An object that cannot be offered reports the reason, and its place is free.
    site.write("db.yaml", &object("MultiKeyListener", "db", &empty));
    let told = "spec.strategy has an empty routing key: leave it out";
    site.until("MultiKeyListener-db", "Error", told);
    site.until("Listener-a", "Ready", "OK");
}

fn s21_s22_without_a_site_and_when_it_comes_later() {
    let mut site = Site::new();
    let all = format!(
        "{}---\n{}",
        site.listener("web", 8080, ""),
        connector("web", echo())
    );
    site.write("all.yaml", &all);
    site.start();
    for object in ["Listener-web", "Connector-web"] {
        site.until(object, "Error", "No active site in namespace");
    }
    site.write(
        "site.json",
        r#"{"apiVersion": "skupper.io/v2alpha1", "kind": "Site", "metadata": {"name": "west"}}"#,
    );
    site.until("Listener-web", "Ready", "OK");
    echoes(&site.listener_address(8080));
    site.remove("site.json");
    site.until("Listener-web", "Error", "No active site in namespace");
    refused(&site.listener_address(8080));
}

fn s29_the_last_connector_goes_and_comes_back() {
    let site = Site::running();
    site.write("listener.yaml", &site.listener("web", 8080, ""));
    let text = connector("web", echo());
    site.write("connector.yaml", &text);
    echoes(&site.listener_address(8080));
    site.remove("connector.yaml");
    site.until("Listener-web", "Pending", "No matching connectors");
    assert!(
        site.value("Listener-web", "status.hasMatchingConnector")
            .is_null()
    );
    refused(&site.listener_address(8080));
    eventually("its file is gone", || {
        let shown = site.read_object("Connector-web");
        shown.is_empty().then_some(()).ok_or(shown)
    });
    site.write("connector.yaml", &text);
    site.until("Listener-web", "Ready", "OK");
    echoes(&site.listener_address(8080));
}

fn s47_s48_s49_an_edited_file_changes_what_is_served() {
    let site = Site::running();
    site.write("listener.yaml", &site.listener("web", 8080, ""));
    site.write("connector.yaml", &connector("web", echo()));
    echoes(&site.listener_address(8080));
    site.write("listener.yaml", &site.listener("web", 8081, ""));
    echoes(&site.listener_address(8081));
    refused(&site.listener_address(8080));
    let other = site
        .listener("web", 8081, "")
        .replace("routingKey: key", "routingKey: other");
    site.write("listener.yaml", &other);
    site.until("Listener-web", "Pending", "No matching connectors");
    refused(&site.listener_address(8081));
    let elsewhere = super::support::own_address();
    let moved = site
        .listener("web", 8081, "")
        .replace(&site.address, &elsewhere);
    site.write("listener.yaml", &moved);
    echoes(&format!("{elsewhere}:8081"));
    refused(&site.listener_address(8081));
}

fn s51_unrelated_changes_drop_nothing() {
    let site = Site::running();
    site.write("listener.yaml", &site.listener("web", 8080, ""));
    site.write("connector.yaml", &connector("web", echo()));
    site.until("Listener-web", "Ready", "OK");
    let mut open = TcpStream::connect(site.listener_address(8080)).unwrap();
    goes_on(&mut open);
    site.write("other.yaml", &site.listener("other", 8081, ""));
    site.until("Listener-other", "Ready", "OK");
    goes_on(&mut open);
    site.write("broken.yaml", "a: [\n");
    site.until_told("broken.yaml");
    site.remove("other.yaml");
    refused(&site.listener_address(8081));
    goes_on(&mut open);
}

fn a_selector_finds_nothing_and_says_so() {
    let site = Site::running();
    let spec = "routingKey: key, port: 80, selector: app=web";
    site.write("connector.yaml", &object("Connector", "web", spec));
    site.until("Connector-web", "Error", "No matches for selector");
}

fn s18_s20_what_cannot_be_listened_at_is_told() {
    let site = Site::running();
    let host = |name: &str, host: &str| site.listener(name, 8080, "").replace(&site.address, host);
    site.write("a.yaml", &host("bad", "\"{bad}\""));
    site.until(
        "Listener-bad",
        "Error",
        "spec.host \"{bad}\" is neither an IP address nor a host name",
    );
    site.write("b.yaml", &host("away", "192.0.2.1"));
    // The error appears before a Connector exists: an author who creates one should not be
    // surprised.
    site.until("Listener-away", "Error", "cannot listen on 192.0.2.1:8080");
    site.write("connector.yaml", &connector("web", echo()));
    site.until("Listener-away", "Error", "cannot listen on 192.0.2.1:8080");
    site.write("c.yaml", &site.listener("udp", 8081, ", type: udp"));
    site.until("Listener-udp", "Error", "spec.type \"udp\"");
    // And the others are served.
    site.write("d.yaml", &site.listener("fine", 8082, ""));
    echoes(&site.listener_address(8082));
}

fn s58_certificates_of_clients_without_credentials_are_an_error_and_no_socket() {
    let site = Site::running();
    let text = site.listener("web", 8080, ", requireClientCert: true");
    site.write("listener.yaml", &text);
    site.write("fine.yaml", &site.listener("fine", 8081, ""));
    site.write("connector.yaml", &connector("web", echo()));
    let said = "spec.requireClientCert needs spec.tlsCredentials";
    site.until("Listener-web", "Error", said);
    echoes(&site.listener_address(8081));
    refused(&site.listener_address(8080));
    // Also where it was served before.
    site.write("listener.yaml", &site.listener("web", 8080, ""));
    echoes(&site.listener_address(8080));
    site.write("listener.yaml", &text);
    site.until("Listener-web", "Error", said);
    refused(&site.listener_address(8080));
}
