//! Tests of the Listener that holds a host and port, across edits, restarts and other programs on
//! the machine.

use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use std::net::TcpListener;

use serde_json::Value;

use super::support::{Site, connector, echo, echoes, eventually, refused, site_of};

pub(crate) fn cases() -> Vec<Case> {
    named![blocking(&[]): s11_s12_a_taken_host_and_port_names_its_holder_and_is_given_when_free, s13_an_edit_into_a_conflict_gives_the_own_place_up, a_restart_keeps_who_has_what_and_who_is_who, s25_a_second_site_is_told_also_after_a_restart, s64_a_port_in_use_by_another_process_is_told_and_opened_when_it_is_free, a_second_process_for_a_site_does_not_start]
}

fn taken(site: &Site, by: &str) -> String {
    format!(
        "Listener {by} with host {} and port 8080 already exists in namespace",
        site.address
    )
}

fn s11_s12_a_taken_host_and_port_names_its_holder_and_is_given_when_free() {
    let site = Site::running();
    site.write("b.yaml", &site.listener("first", 8080, ""));
    site.write("connector.yaml", &connector("web", echo()));
    site.until("Listener-first", "Ready", "OK");
    // The names of the files decide nothing.
    site.write("a.yaml", &site.listener("second", 8080, ""));
    site.until("Listener-second", "Error", &taken(&site, "first"));
    site.until("Listener-first", "Ready", "OK");
    echoes(&site.listener_address(8080));
    site.remove("b.yaml");
    site.until("Listener-second", "Ready", "OK");
    echoes(&site.listener_address(8080));
}

fn s13_an_edit_into_a_conflict_gives_the_own_place_up() {
    let site = Site::running();
    site.write("a.yaml", &site.listener("first", 8080, ""));
    site.write("b.yaml", &site.listener("second", 8081, ""));
    site.write("connector.yaml", &connector("web", echo()));
    site.until("Listener-second", "Ready", "OK");
    echoes(&site.listener_address(8081));
    site.write("b.yaml", &site.listener("second", 8080, ""));
    site.until("Listener-second", "Error", &taken(&site, "first"));
    refused(&site.listener_address(8081));
    site.until("Listener-first", "Ready", "OK");
    echoes(&site.listener_address(8080));
}

fn a_restart_keeps_who_has_what_and_who_is_who() {
    let mut site = Site::running();
    site.write("z.yaml", &site.listener("zebra", 8080, ""));
    site.write("connector.yaml", &connector("web", echo()));
    site.until("Listener-zebra", "Ready", "OK");
    site.write("a.yaml", &site.listener("ant", 8080, ""));
    site.until("Listener-ant", "Error", &taken(&site, "zebra"));
    // One that came back is another one, and that is kept, too.
    let uid = site.value("Listener-ant", "metadata.uid");
    site.remove("a.yaml");
    eventually("its file is gone", || {
        let shown = site.read_object("Listener-ant");
        shown.is_empty().then_some(()).ok_or(shown)
    });
    site.write("a.yaml", &site.listener("ant", 8080, ""));
    site.until("Listener-ant", "Error", &taken(&site, "zebra"));
    assert_ne!(site.value("Listener-ant", "metadata.uid"), uid);
    let identity = |object: &str| {
        let of = |path| site.value(object, path).to_string();
        (of("metadata.uid"), of("metadata.creationTimestamp"))
    };
    let before = ["Site-west", "Listener-zebra", "Listener-ant"].map(identity);
    eventually("the network has the own site", || {
        let network = site.value("Site-west", "status.network");
        let is_own = network[0]["id"] == site.value("Site-west", "metadata.uid");
        is_own.then_some(()).ok_or_else(|| network.to_string())
    });
    let mut restart = |ends: fn(&mut Site)| {
        ends(&mut site);
        refused(&site.listener_address(8080));
        std::fs::remove_dir_all(site.path("runtime/resources")).unwrap();
        site.start();
        site.until("Listener-zebra", "Ready", "OK");
        site.until("Listener-ant", "Error", &taken(&site, "zebra"));
        echoes(&site.listener_address(8080));
        let identity = |object: &str| {
            let of = |path| site.value(object, path).to_string();
            (of("metadata.uid"), of("metadata.creationTimestamp"))
        };
        ["Site-west", "Listener-zebra", "Listener-ant"].map(identity)
    };
    assert_eq!(restart(Site::kill), before);
    assert_eq!(restart(|site| assert_eq!(site.stop(), Some(0))), before);
}

fn s25_a_second_site_is_told_also_after_a_restart() {
    let mut site = Site::running();
    site.until("Site-west", "Ready", "OK");
    site.write("a.yaml", &site_of("east"));
    let said = "An active site already exists in the namespace (west)";
    site.until("Site-east", "Error", said);
    assert_eq!(site.stop(), Some(0));
    // The one that has begun counts, even where the other looks older.
    let state = site.path("runtime/state.json");
    let mut known: Value = serde_json::from_slice(&std::fs::read(&state).unwrap()).unwrap();
    let mut objects = known["objects"].as_object_mut().unwrap().iter_mut();
    let (_, east) = objects.find(|(key, _)| key.contains("east")).unwrap();
    east["created"] = "2020-01-01T00:00:00Z".into();
    std::fs::write(&state, known.to_string()).unwrap();
    std::fs::remove_dir_all(site.path("runtime/resources")).unwrap();
    site.start();
    site.until("Site-west", "Ready", "OK");
    site.until("Site-east", "Error", said);
    let created = site.value("Site-east", "metadata.creationTimestamp");
    assert_eq!(created, "2020-01-01T00:00:00Z");
}

fn s64_a_port_in_use_by_another_process_is_told_and_opened_when_it_is_free() {
    let site = Site::running();
    let other = TcpListener::bind(site.listener_address(8080)).unwrap();
    site.write("a.yaml", &site.listener("web", 8080, ""));
    site.write("b.yaml", &site.listener("fine", 8081, ""));
    site.write("connector.yaml", &connector("web", echo()));
    let said = format!(
        "cannot listen on {}: Address already in use",
        site.listener_address(8080)
    );
    site.until("Listener-web", "Error", &said);
    echoes(&site.listener_address(8081));
    drop(other);
    site.until("Listener-web", "Ready", "OK");
    echoes(&site.listener_address(8080));
}

fn a_second_process_for_a_site_does_not_start() {
    let site = Site::running();
    site.until("Site-west", "Ready", "OK");
    let output = site.command().output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("another process serves this site"), "{said}");
}
