//! Rows 35 and 68 of sites without Kubernetes. Two directories are two sites, and one lets the
//! other link by a token. The credentials of the link outlive both processes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use lifecycle_tests::harness::{Case, Need, blocking};
use serde_json::{Value, json};

use super::support::{Site, connector, echo, echoes, eventually, object, refused, site_of};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        blocking(
            "s35_s68_two_directories_are_two_sites_that_a_token_joins",
            &[],
            joined,
        ),
        blocking(
            "the_two_sites_of_the_documentation_are_joined",
            &[Need::Root],
            documented,
        ),
        blocking("a_token_that_cannot_be_issued_says_why", &[], unissued),
        blocking("a_token_that_cannot_be_redeemed_says_why", &[], unredeemed),
        blocking("what_has_no_meaning_on_a_machine_is_told", &[], meaningless),
    ]
}

const GRANTS: u16 = 9443;
const CA: &str = "runtime/issued/Secret-skupper-site-ca.yaml";

/// A site that others may link to, at its address.
fn open(name: &str) -> Site {
    let mut site = Site::new();
    let access = format!(
        "tlsCredentials: door, generateTlsCredentials: true, issuer: skupper-site-ca, bindHost: {}, roles: [{{name: inter-router}}, {{name: edge}}]",
        site.address
    );
    site.write("site.yaml", &site_of(name));
    site.write("access.yaml", &object("RouterAccess", "door", &access));
    let authority = object(
        "Certificate",
        "skupper-site-ca",
        "ca: '', subject: network, signing: true",
    );
    site.write("authority.yaml", &authority);
    let grants = site.listener_address(GRANTS);
    let options = [
        "--host",
        &site.address,
        "--grant-server-address",
        grants.as_str(),
    ];
    site.options = options.map(str::to_owned).to_vec();
    site.start();
    site
}

fn token(arguments: &[&str], file: &Path, site: &Site, more: &[&str]) -> Output {
    let mut command = Command::new(crate::PROGRAM);
    command.arg("token").args(arguments).arg(file);
    command.arg(site.directory()).args(more);
    command.output().unwrap()
}

#[track_caller]
fn fails(output: &Output, expected: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(expected), "{said}");
}

#[track_caller]
fn works(output: &Output, expected: &str) {
    let said = String::from_utf8_lossy(&output.stdout);
    let why = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{why}");
    assert!(said.contains(expected), "{said}");
}

fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(path).unwrap().permissions().mode();
    mode & 0o077 == 0
}

fn joined() {
    let mut west = open("west");
    west.write("connector.yaml", &connector("shop", echo()));
    west.until("RouterAccess-door", "Ready", "OK");
    west.until("Site-west", "Ready", "OK");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("to-west.yaml");
    works(
        &token(&["issue"], &file, &west, &["--cost", "7"]),
        "can be redeemed once, within 15m",
    );
    assert!(is_private(&file));
    let issued: Value = serde_saphyr::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(issued["spec"]["linkCost"], 7);
    let code = issued["spec"]["code"].as_str().unwrap();
    // Who sees statuses sees no code.
    west.until("AccessGrant-to-west", "Ready", "OK");
    assert!(!west.read_object("AccessGrant-to-west").contains(code));
    for private in ["runtime/state.json", "runtime/tokens/to-west.yaml", CA] {
        assert!(is_private(&west.path(private)), "{private}");
    }

    let mut east = Site::running();
    east.write("listener.yaml", &east.listener("shop", 8080, ""));
    works(&token(&["redeem"], &file, &east, &[]), "is redeemed");
    east.until("Link-to-west", "Ready", "OK");
    assert_eq!(east.value("Link-to-west", "spec.cost"), 7);
    east.until("Listener-shop", "Ready", "OK");
    echoes(&east.listener_address(8080));
    works(&token(&["redeem"], &file, &east, &[]), "is redeemed");
    eventually("both sites are told", || {
        let known = [(&west, "west"), (&east, "west")];
        let known =
            known.map(|(site, name)| site.value(&format!("Site-{name}"), "status.sitesInNetwork"));
        (known == [json!(2), json!(2)])
            .then_some(())
            .ok_or_else(|| format!("{known:?}"))
    });
    eventually("a token that is used up goes", || {
        let there = west.path("runtime/tokens/to-west.yaml").exists();
        (!there)
            .then_some(())
            .ok_or_else(|| "it is there".to_owned())
    });

    // Another site that redeems the same token is too late.
    let third = Site::running();
    third.until("Site-west", "Ready", "OK");
    let late = token(&["redeem"], &file, &third, &["--timeout", "5"]);
    fails(&late, "answered 404");

    outlived(&mut west, &mut east);
    west.until_whole();
    moved_away(&mut west, &east);
    put_aside(&west);
}

/// Returns the authority that identifies all sites that may link.
fn authority(west: &Site) -> String {
    fs::read_to_string(west.path(CA)).unwrap()
}

/// Certificates and keys outlive both processes, however they end.
fn outlived(west: &mut Site, east: &mut Site) {
    let before = authority(west);
    let ends: [fn(&mut Site); 2] = [Site::kill, |site| assert_eq!(site.stop(), Some(0))];
    for end in ends {
        end(west);
        refused(&west.listener_address(55671));
        west.start();
        west.until("RouterAccess-door", "Ready", "OK");
        east.until("Link-to-west", "Ready", "OK");
        echoes(&east.listener_address(8080));
        assert_eq!(authority(west), before);
        west.until("AccessGrant-to-west", "Ready", "OK");
        assert_eq!(west.value("AccessGrant-to-west", "status.redemptions"), 1);
        end(east);
        east.start();
        east.until("Listener-shop", "Ready", "OK");
        echoes(&east.listener_address(8080));
    }
}

/// A folder that is moved away does not request any removal, also at the start.
fn moved_away(west: &mut Site, east: &Site) {
    let before = authority(west);
    fs::rename(west.path("input"), west.path("moved")).unwrap();
    west.until_told(
        "input/resources: cannot be read: the folder is gone, but the objects of its files stay",
    );
    echoes(&east.listener_address(8080));
    assert_eq!(west.stop(), Some(0));
    refused(&east.listener_address(8080));
    fs::remove_file(west.path("runtime/errors.txt")).unwrap();
    west.start();
    west.until_told("the folder is gone, but the objects of its files stay");
    echoes(&east.listener_address(8080));
    fs::rename(west.path("moved"), west.path("input")).unwrap();
    west.until_whole();
    echoes(&east.listener_address(8080));
    assert_eq!(authority(west), before);
}

/// Tests that a Secret that is no longer requested is put aside.
fn put_aside(west: &Site) {
    west.remove("access.yaml");
    eventually("its certificate goes", || {
        let there = west.path("runtime/issued/Secret-door.yaml").exists();
        (!there)
            .then_some(())
            .ok_or_else(|| "it is there".to_owned())
    });
    refused(&west.listener_address(55671));
    let aside = west.path("runtime/issued/removed/Secret-door.yaml");
    assert!(is_private(&aside));
    assert!(
        west.log()
            .contains("Secret-door.yaml is no longer requested")
    );
}

/// Runs the commands of the documentation, in a network namespace in which their ports are free.
fn documented() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/skupper.md");
    let text = fs::read_to_string(document).unwrap();
    let (_, section) = text
        .split_once("\n### Two directories are two sites\n")
        .unwrap();
    let blocks = |language: &str| -> Vec<String> {
        let fence = format!("```{language}\n");
        let parts = section.split(fence.as_str()).skip(1);
        let parts = parts.map(|part| part.split_once("```").unwrap().0.to_owned());
        parts.collect()
    };
    let (files, commands) = (blocks("yaml"), blocks("sh"));
    let ([west, north], [serve, join, second]) = (&files[..2], &commands[..]) else {
        panic!("the section has two files and three blocks of commands");
    };
    let folder = tempfile::tempdir().unwrap();
    let write = |site: &str, text: &str| {
        let input = folder.path().join(site).join("input/resources");
        fs::create_dir_all(&input).unwrap();
        fs::write(input.join("site.yaml"), text).unwrap();
    };
    write("west", west);
    write("east", &site_of("east"));
    write("north", north);
    let program = folder.path().join("lifecycle-operator");
    std::os::unix::fs::symlink(crate::PROGRAM, &program).unwrap();
    let mut script = "ip link set lo up\nready() { until grep -qs '^  status: Ready' \"$1\"; do sleep 0.1; done; }\n".to_owned();
    for line in serve.lines().chain(second.lines()) {
        script += &format!("{line} >>log 2>&1 &\n");
    }
    script += "for site in west east; do ready $site/runtime/resources/Site-$site.yaml; done\n";
    script += join;
    script += "ready east/runtime/resources/Link-to-west.yaml\n";
    script += "ready north/runtime/resources/RouterAccess-door.yaml\n";
    script += "lifecycle-operator token issue to-north.yaml north\n";
    script += "lifecycle-operator token redeem to-north.yaml east | grep 'the sites are linked'\n";
    // All remaining processes end with the first process of their namespace.
    let mut command = Command::new("timeout");
    command.args(["300", "unshare", "--net", "--pid", "--fork", "--kill-child"]);
    command.args(["sh", "-euc", &script]);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", folder.path().display()));
    let output = command.current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let log = fs::read_to_string(folder.path().join("log")).unwrap_or_default();
    assert!(output.status.success(), "{said}\n{log}");
}

fn unissued() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("east.yaml");
    let mut site = Site::new();
    site.write("site.yaml", &site_of("west"));
    fails(
        &token(&["issue"], &file, &site, &[]),
        "no process serves the site",
    );
    site.start();
    site.until("Site-west", "Ready", "OK");
    let soon = ["--timeout", "4"];
    fails(
        &token(&["issue"], &file, &site, &soon),
        "No valid endpoints found for site: set spec.linkAccess of Site west",
    );
    assert!(!file.exists());
    // Nothing is left in the way.
    assert!(!site.path("input/resources/grant-east.yaml").exists());
    let named = |name: &'static str| ["--timeout", "4", "--name", name];
    fails(&token(&["issue"], &file, &site, &named("../x")), "--name");
    let soon_ish = ["--expiration-window", "soon"];
    fails(
        &token(&["issue"], &file, &site, &soon_ish),
        "Invalid duration \"soon\": use a format such as 1h30m",
    );
    let never = ["--expiration-window", "0s"];
    fails(
        &token(&["issue"], &file, &site, &never),
        "0s is not a positive duration",
    );
    let nowhere = folder.path().join("none/east.yaml");
    fails(&token(&["issue"], &nowhere, &site, &soon), "cannot write");
    assert!(!site.path("input/resources/grant-east.yaml").exists());
    fs::write(&file, "mine").unwrap();
    fails(&token(&["issue"], &file, &site, &soon), "is there already");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    let none = folder.path().join("none.yaml");
    let nowhere = Command::new(crate::PROGRAM)
        .args(["token", "issue"])
        .args([&none, &none])
        .output()
        .unwrap();
    fails(&nowhere, "is no directory");

    // A site that others reach, and no grant server.
    let mut west = open("west");
    west.until("RouterAccess-door", "Ready", "OK");
    assert_eq!(west.stop(), Some(0));
    west.options.truncate(2);
    fs::remove_dir_all(west.path("runtime/resources")).unwrap();
    west.start();
    west.until("RouterAccess-door", "Ready", "OK");
    fails(
        &token(&["issue"], &none, &west, &soon),
        "this site has no grant server: start it with --grant-server-address",
    );
    assert!(!none.exists());
    west.until_whole();
}

fn unredeemed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token.yaml");
    let mut site = Site::new();
    site.write("site.yaml", &site_of("east"));
    let redeem = |site: &Site| token(&["redeem"], &file, site, &["--timeout", "3"]);
    fails(&redeem(&site), "cannot read");
    fs::write(&file, site_of("east")).unwrap();
    fails(&redeem(&site), "is no token");
    let ca = "-----BEGIN CERTIFICATE-----\nYWJj\n-----END CERTIFICATE-----\n";
    let url = "https://127.9.9.9:9/uid";
    let of = |code: &str| {
        json!({
            "apiVersion": "skupper.io/v2alpha1", "kind": "AccessToken", "metadata": { "name": "west" },
            "spec": { "url": url, "code": code, "ca": ca },
        })
        .to_string()
    };
    fs::write(&file, of("one")).unwrap();
    works(&redeem(&site), "is redeemed once a process serves the site");
    let asked = site.path("input/resources/token-west.yaml");
    assert!(is_private(&asked));
    fs::write(&file, of("another")).unwrap();
    fails(&redeem(&site), "is another token");
    assert!(fs::read_to_string(&asked).unwrap().contains("one"));
    fs::write(&file, of("one")).unwrap();
    site.start();
    site.until("Site-east", "Ready", "OK");
    fails(
        &redeem(&site),
        "AccessToken west is not redeemed yet: it is Error: ",
    );
    // The token still exists, and can be removed.
    site.until("AccessToken-west", "Error", "");
    fs::remove_file(&asked).unwrap();
    eventually("it is given up", || {
        let shown = site.read_object("AccessToken-west");
        shown.is_empty().then_some(()).ok_or(shown)
    });
}

fn meaningless() {
    let site = Site::running();
    site.write("site.yaml", &object("Site", "west", "linkAccess: nodeport"));
    site.until(
        "Site-west",
        "Error",
        "spec.linkAccess \"nodeport\" has no meaning without Kubernetes: set it to \"default\"",
    );
    let spec = format!(
        "tlsCredentials: door, generateTlsCredentials: true, accessType: loadbalancer, bindHost: {}, roles: [{{name: edge}}]",
        site.address
    );
    site.write("site.yaml", &site_of("west"));
    site.write("access.yaml", &object("RouterAccess", "door", &spec));
    site.until(
        "SecuredAccess-door",
        "Error",
        "access type \"loadbalancer\" has no meaning without Kubernetes",
    );
}
