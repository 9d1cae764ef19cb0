//! Content of files, and messages for files without any.

use serde_json::json;

use super::*;

const LISTENER: &str =
    "apiVersion: skupper.io/v2alpha1\nkind: Listener\nmetadata: {name: a}\nspec: {routingKey: k}\n";

fn read_documents(text: &str) -> Documents {
    read(text.as_bytes(), false, "default").expect("it can be read")
}

fn unreadable(text: &str, is_json: bool) -> (Option<u64>, String) {
    let error = read(text.as_bytes(), is_json, "default").expect_err("it cannot be read");
    (error.line, error.to_string())
}

#[test]
fn documents_are_known_by_the_line_where_they_begin() {
    let text = format!(
        "# words\n---\n{LISTENER}---\n# more\n\napiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\n"
    );
    let read = read_documents(&text);
    let all: Vec<_> = read
        .wanted
        .iter()
        .map(|one| (one.key.to_string(), one.line.unwrap_or_default()))
        .collect();
    assert_eq!(
        all,
        [("Listener a".to_owned(), 3), ("Secret s".to_owned(), 10)]
    );
    assert_eq!(
        read.wanted[0].object["metadata"],
        json!({ "name": "a", "namespace": "default" })
    );
    assert!(read.faults.is_empty() && read.kept.is_empty());
    assert_eq!(read_documents("# only words\n"), Documents::default());
    assert_eq!(read_documents(""), Documents::default());
}

#[test]
fn json_may_hold_several_documents_too() {
    let one = |name: &str| {
        format!(
            "{{\n\t\"apiVersion\": \"v1\", \"kind\": \"Secret\",\n\t\"metadata\": {{\"name\": \"{name}\"}}}}\n"
        )
    };
    let text = format!("\n{}\n\n{}", one("a"), one("b"));
    let read = read(text.as_bytes(), true, "n").expect("it is JSON");
    let all: Vec<_> = read
        .wanted
        .iter()
        .map(|w| (w.key.name.as_str(), w.line.unwrap_or_default()))
        .collect();
    assert_eq!(all, [("a", 2), ("b", 7)]);
    assert_eq!(read.wanted[1].object["metadata"]["namespace"], "n");
}

#[test]
fn lists_are_opened() {
    let read = read_documents(
        "kind: List\napiVersion: v1\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: a}}\n- {apiVersion: v1, kind: Secret, metadata: {name: b}}\n",
    );
    assert_eq!(read.wanted.len(), 2);
}

#[test]
fn a_file_that_is_broken_is_told_with_the_line() {
    let (line, said) = unreadable("a: 1\nb: [\n", false);
    assert!(
        line.is_some() && said.starts_with("is not YAML: "),
        "{line:?} {said}"
    );
    assert_eq!(said.lines().count(), 1);
    let (line, said) = unreadable("{\n\"a\": }", true);
    assert_eq!(line, Some(2));
    assert!(said.starts_with("is not JSON: "), "{said}");
    let bytes = read(&[0xff, 0xfe], false, "default");
    assert!(bytes.is_err());
}

#[test]
fn a_document_that_does_not_say_what_it_is_leaves_the_others_of_its_file_alone() {
    let check = |text: &str, line: u64, said: &str, wanted: usize| {
        let read = read_documents(text);
        assert_eq!(read.faults, [(line, said.to_owned())]);
        assert_eq!((read.wanted.len(), read.is_unclear), (wanted, true));
    };
    let nameless = "apiVersion: v1\nkind: Secret\n";
    check(
        &format!("{LISTENER}---\nkind: A\n"),
        6,
        "has no apiVersion",
        1,
    );
    check(
        &format!("{nameless}---\n{LISTENER}"),
        1,
        "has no metadata.name",
        1,
    );
    check("apiVersion: v1\nkind: ''\n", 1, "has no kind", 0);
    check("- 1\n", 1, "is not an object", 0);
    let list = "kind: List\napiVersion: v1\nitems:\n- 1\n- {apiVersion: v1, kind: Secret, metadata: {name: a}}\n";
    check(list, 1, "is not an object", 1);
    assert!(!read_documents(LISTENER).is_unclear);
}

#[test]
fn what_has_no_place_here_is_told_and_leaves_the_others_alone() {
    let other = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n";
    let old = LISTENER
        .replace("v2alpha1", "v1alpha1")
        .replace("{name: a}", "{name: b}");
    let away = LISTENER.replace("{name: a}", "{name: c, namespace: east}");
    let read = read_documents(&format!("{LISTENER}{other}---\n{old}---\n{away}"));
    assert_eq!(read.wanted.len(), 1);
    let kept: Vec<_> = read.kept.iter().map(ToString::to_string).collect();
    assert_eq!(kept, ["Listener b", "Listener c"]);
    let said = |part: &str| read.faults.iter().any(|(_, said)| said.contains(part));
    assert!(said("ConfigMap m has no meaning") && said("of skupper.io/v1alpha1"));
    assert!(said("Listener c is in another namespace than default"));
    let lines: Vec<_> = read.faults.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [6, 10, 15]);
}

#[test]
fn what_is_not_the_authors_is_left_out() {
    let copied = "apiVersion: skupper.io/v2alpha1\nkind: Site\nmetadata: {name: w, uid: u, resourceVersion: '1', labels: {a: b}}\nspec: {}\nstatus: {status: Ready}\n";
    let object = &read_documents(copied).wanted[0].object;
    let expected = json!({ "name": "w", "namespace": "default", "labels": { "a": "b" } });
    assert_eq!(
        (&object["metadata"], object.get("status")),
        (&expected, None)
    );
    let bare =
        &read_documents("apiVersion: skupper.io/v2alpha1\nkind: Site\nmetadata: {name: w}\n")
            .wanted[0];
    assert_eq!(bare.object["spec"], json!({}));
}
