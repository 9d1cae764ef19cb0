//! The example of two sites in `docs/router.md`, exactly as written there.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::authority::Authority;
use crate::program::{Process, entry, write};
use crate::support::{Server, address, port, read_until_close};

const PAGE: &str = include_str!("../../../../docs/router.md");

/// The first block after a text.
fn block(after: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(after).expect("the page has it");
    let (_, rest) = rest.split_once("```").expect("a block follows");
    let (_, rest) = rest.split_once('\n').expect("it has lines");
    rest.split_once("```").expect("it ends").0
}

/// Makes the certificates by the commands of the page; where nothing of the kind is installed, the same without.
fn certify(directory: &Path, script: &str, at: &str) {
    let has_openssl = Command::new("openssl").arg("version").output();
    if has_openssl.is_ok_and(|output| output.status.success()) {
        let output = Command::new("sh")
            .args(["-ec", script])
            .current_dir(directory)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{told}");
        return;
    }
    let authority = Authority::new("network");
    for site in ["west", "east"] {
        let pair = authority.issue_site(site, at.parse().unwrap());
        let files = [
            ("ca.crt", &authority.pem()),
            ("tls.crt", &pair.chain),
            ("tls.key", &pair.key),
        ];
        for (name, text) in files {
            write(
                &directory.join(site),
                &format!("certs/network/{name}"),
                text,
            );
        }
    }
}

#[tokio::test]
async fn two_sites_of_the_page_are_linked_as_it_says() {
    let server = Server::named("hello").await;
    let (at, [links, web]) = (address().to_string(), [port(210), port(211)]);
    // The address and the ports are unused by other tests.
    let here = |text: &str| {
        let text = text.replace("\"9000\"", &server.address.port().to_string());
        let text = text.replace("55671", &links.to_string());
        text.replace("8080", &web.to_string())
    };
    let pages = tempfile::tempdir().unwrap();
    let script = block("which says who it is and where it is reached:");
    certify(pages.path(), &script.replace("127.0.0.1", &at), &at);
    let mut sites = ["east", "west"].map(|site| {
        let text = here(block(&format!("`skrouterd.json` of the {site}:")));
        // The server alone is at another address.
        let mut document: Value = serde_json::from_str(&text).unwrap();
        for element in document.as_array_mut().unwrap() {
            let is_server = element[0] == "tcpConnector";
            if element[1].get("host").is_some() {
                let host = if is_server {
                    server.address.ip().to_string()
                } else {
                    at.clone()
                };
                element[1]["host"] = json!(host);
            }
        }
        Process::at_address(at.parse().unwrap(), |directory| {
            fs::rename(
                pages.path().join(site).join("certs"),
                directory.join("certs"),
            )
            .unwrap();
            write(directory, "skrouterd.json", &document.to_string());
        })
    });
    sites[1].up("web").await;
    assert_eq!(read_until_close(sites[1].connect(web).await).await, "hello");
    let shown: Value = serde_json::from_str(block("and the network has two sites:")).unwrap();
    let is_shown = |state: &Value| {
        let link = entry(state, "to-east");
        let attributes = shown.as_object().unwrap();
        attributes.iter().all(|(name, value)| link[name] == *value)
    };
    let state = sites[1].until(is_shown).await;
    assert_eq!(state["sites"].as_array().unwrap().len(), 2);
    assert_eq!(state["faults"], json!([]));
    for site in &mut sites {
        site.terminate();
    }
}
