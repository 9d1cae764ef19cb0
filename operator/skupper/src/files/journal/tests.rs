//! Changes of statuses that become lines of the log.

use serde_json::json;

use super::*;

fn object(kind: &str, name: &str, status: &str, message: &str) -> Value {
    json!({
        "kind": kind, "metadata": { "name": name, "uid": "u-west" },
        "spec": { "host": "127.0.0.1", "port": 8080 },
        "status": { "status": status, "message": message },
    })
}

fn link(status: &str, message: &str) -> Value {
    let mut link = object("Link", "to-east", status, message);
    if status == "Ready" {
        link["status"]["remoteSiteName"] = "east".into();
        link["status"]["remoteSiteId"] = "u-east".into();
    }
    link
}

/// The lines once these objects have been so for long enough; a warning begins with `!`.
fn lines(journal: &mut Journal, objects: &[Value]) -> Vec<String> {
    journal.see(objects);
    let shown = |line: Line| format!("{}{}", if line.is_warning { "!" } else { "" }, line.text);
    let ticks = (0..2 * HOLD_WRONG).flat_map(|_| journal.tick());
    ticks.map(shown).collect()
}

#[test]
fn a_link_that_comes_up_or_goes_down_is_a_line_with_its_name_and_site() {
    let mut journal = Journal::default();
    let none = lines(&mut journal, &[link("Pending", "Not operational")]);
    assert!(none.is_empty(), "{none:?}");
    let up = link("Ready", "OK");
    let is_up = "Link to-east is up: it leads to site east (u-east)";
    assert_eq!(lines(&mut journal, std::slice::from_ref(&up)), [is_up]);
    assert!(lines(&mut journal, std::slice::from_ref(&up)).is_empty());
    let down = link("Error", "Not operational: it closed the link");
    let is_down = "!Link to-east is down: Not operational: it closed the link";
    assert_eq!(lines(&mut journal, std::slice::from_ref(&down)), [is_down]);
    // Between two tries it only waits, which is as bad.
    assert!(lines(&mut journal, &[link("Pending", "Not operational")]).is_empty());
    assert!(lines(&mut journal, &[down]).is_empty());
    assert_eq!(lines(&mut journal, &[up]), [is_up]);
    assert_eq!(lines(&mut journal, &[]), ["Link to-east is gone"]);
    assert!(lines(&mut journal, &[]).is_empty());
}

#[test]
fn a_link_of_another_site_is_a_line_where_it_leads_to() {
    let site = |operational: bool| {
        let mut site = object("Site", "west", "Ready", "OK");
        let dials =
            |to: &str| json!([{ "name": "to-x", "remoteSiteId": to, "operational": operational }]);
        site["status"]["network"] = json!([
            { "id": "u-west", "name": "west", "links": dials("u-east") },
            { "id": "u-east", "name": "east", "links": dials("u-west") },
            { "id": "u-north", "links": dials("u-east") },
        ]);
        site
    };
    let mut journal = Journal::default();
    let expected = [
        "Site west is Ready",
        "Link to-x of site east (u-east) leads here, and is up",
    ];
    assert_eq!(lines(&mut journal, &[site(true)]), expected);
    assert!(lines(&mut journal, &[site(true)]).is_empty());
    let expected = ["Link to-x of site east (u-east) leads here no more"];
    assert_eq!(lines(&mut journal, &[site(false)]), expected);
}

#[test]
fn it_is_logged_what_is_served_where_and_what_is_wrong() {
    let mut journal = Journal::default();
    let mut access = object("RouterAccess", "door", "Ready", "OK");
    access["status"]["endpoints"] =
        json!([{ "name": "edge", "host": "west.example.com", "port": "45671" }]);
    let all = [
        object("Listener", "shop", "Ready", "OK"),
        object("Connector", "shop", "Ready", "OK"),
        object("Connector", "db", "Error", "cannot connect"),
        object("Listener", "bare", "Error", NO_SITE),
        access,
    ];
    let expected = [
        "Listener shop serves 127.0.0.1:8080",
        "RouterAccess door lets other sites link, which reach edge west.example.com:45671",
        "!Connector db is in Error: cannot connect",
    ];
    assert_eq!(lines(&mut journal, &all), expected);
    let waits = [
        object("Connector", "db", "Ready", "OK"),
        object("Listener", "shop", "Pending", "No matching connectors"),
    ];
    let expected = [
        "Connector db is Ready",
        "RouterAccess door is gone",
        "!Listener shop is Pending: No matching connectors",
    ];
    assert_eq!(lines(&mut journal, &waits), expected);
}

#[test]
fn what_waits_from_the_beginning_is_said_but_of_a_link() {
    let mut journal = Journal::default();
    let waits = [
        object("Listener", "lonely", "Pending", "No matching connectors"),
        link("Pending", "Not operational"),
    ];
    let expected = ["Listener lonely is Pending: No matching connectors"];
    assert_eq!(lines(&mut journal, &waits), expected);
}

#[test]
fn a_site_is_called_as_its_directory_where_it_may_be() {
    for (directory, expected) in [
        ("east", "east"),
        ("/srv/east-2/", "east-2"),
        ("/srv/East", "west"),
        ("..", "west"),
        ("-a", "west"),
        ("", "west"),
    ] {
        assert_eq!(site_name(directory), expected, "{directory}");
    }
}

#[test]
fn what_only_passes_by_is_no_line() {
    let mut journal = Journal::default();
    lines(&mut journal, &[link("Ready", "OK")]);
    journal.see(&[link("Error", "lost")]);
    assert!((1..HOLD).all(|_| journal.tick().is_empty()));
    journal.see(&[link("Ready", "OK")]);
    assert!((0..2 * HOLD).all(|_| journal.tick().is_empty()));
    let starts = object("RouterAccess", "door", "Error", "secret not found");
    journal.see(&[link("Ready", "OK"), starts]);
    assert!((1..HOLD_WRONG).all(|_| journal.tick().is_empty()));
}

#[test]
fn a_directory_without_a_site_is_said_once_and_again_when_the_last_one_is_removed() {
    let mut said = false;
    let mut siteless = |has_site| siteless("west", has_site, &mut said);
    let line = siteless(false).unwrap();
    assert!(line.starts_with("west has no Site, so nothing of it is served"));
    // The message must contain exactly the text that it recommends to write.
    let (_, example) = line.split_once("site.yaml with ").unwrap();
    let example: Value = serde_saphyr::from_str(example).unwrap();
    assert_eq!(example["kind"], "Site");
    assert_eq!(siteless(false), None);
    assert_eq!(siteless(true), None);
    assert!(siteless(false).is_some());
}
