//! Files that are broken, half written, duplicated or in the wrong place: each is reported with its
//! line, and nothing that works is lost. Also certificates in folders.

use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;

use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::support::{SOON, Site, connector, echo, echoes, eventually, random, refused, site_of};

pub(crate) fn cases() -> Vec<Case> {
    named![blocking(&[]): broken_files_are_told_with_their_line_and_everything_stays, a_document_that_cannot_be_used_leaves_the_others_of_its_file_alone, what_is_refused_or_unknown_or_doubled_is_told_and_leaves_others_alone, a_file_that_is_written_slowly_is_read_when_it_is_whole, pipes_in_the_place_of_files_stop_nothing, a_directory_that_is_none_or_a_state_that_is_broken_is_told, s31_s54_s55_s56_s57_certificates_come_are_rotated_and_go, s57_a_rotation_that_does_not_fit_is_told_and_the_last_good_pair_serves]
}

fn broken_files_are_told_with_their_line_and_everything_stays() {
    let mut site = Site::running();
    let listener = site.listener("web", 8080, "");
    site.write("listener.yaml", &listener);
    site.write("connector.yaml", &connector("web", echo()));
    site.until("Listener-web", "Ready", "OK");
    let mut open = TcpStream::connect(site.listener_address(8080)).unwrap();
    super::support::goes_on(&mut open);
    for (name, text) in [
        ("listener.yaml", "a: 1\nb: [\n"),
        ("connector.yaml", "- 1\n"),
        ("site.yaml", "kind: Site\n"),
    ] {
        site.write(name, text);
        site.until_told(&format!("input/resources/{name}:"));
    }
    let told = site.read_faults();
    assert_eq!(told.lines().count(), 3, "{told}");
    super::support::goes_on(&mut open);
    echoes(&site.listener_address(8080));
    assert_eq!(
        site.log()
            .matches("connector.yaml:1: is not an object")
            .count(),
        1
    );
    // After a restart, too, and whichever way the process ended.
    let uid = site.value("Listener-web", "metadata.uid");
    for ends in [
        |site: &mut Site| assert_eq!(site.stop(), Some(0)),
        Site::kill,
    ] {
        ends(&mut site);
        refused(&site.listener_address(8080));
        site.start();
        echoes(&site.listener_address(8080));
        let told = site.until_told("input/resources/listener.yaml:");
        assert_eq!(told.lines().count(), 3, "{told}");
        site.until("Listener-web", "Ready", "OK");
        assert_eq!(site.value("Listener-web", "metadata.uid"), uid);
    }
    // A removed file requests nothing, however broken it was.
    site.stop();
    site.remove("connector.yaml");
    site.start();
    site.until("Listener-web", "Pending", "No matching connectors");
    site.write("site.yaml", &site_of("west"));
    site.write("connector.yaml", &connector("web", echo()));
    site.write("listener.yaml", &listener);
    site.until("Listener-web", "Ready", "OK");
    assert_eq!(site.value("Listener-web", "metadata.uid"), uid);
    echoes(&site.listener_address(8080));
    site.until_whole();
}

/// One document lost its name, and one its port: both objects are as they were, also after a restart, and the third of the file is new.
fn a_document_that_cannot_be_used_leaves_the_others_of_its_file_alone() {
    let mut site = Site::running();
    let all = ["one", "two"].map(|name| {
        let port = if name == "one" { 8081 } else { 8082 };
        site.listener(name, port, "")
    });
    site.write("all.yaml", &all.join("---\n"));
    site.write("connector.yaml", &connector("web", echo()));
    echoes(&site.listener_address(8081));
    let nameless = all[0].replace("{name: one}", "{}");
    let refused = site.listener("two", 0, "");
    let third = site.listener("three", 8083, "");
    let text = [nameless, refused, third].join("---\n");
    site.write("all.yaml", &text);
    for _ in 0..2 {
        for port in [8083, 8082, 8081] {
            echoes(&site.listener_address(port));
        }
        let told = site.until_told("all.yaml:1: has no metadata.name");
        assert!(told.contains("Listener two cannot be used"), "{told}");
        assert_eq!(told.lines().count(), 2, "{told}");
        site.kill();
        site.start();
    }
}

fn what_is_refused_or_unknown_or_doubled_is_told_and_leaves_others_alone() {
    let site = Site::running();
    let listener = site.listener("web", 8080, "");
    site.write("a.yaml", &listener);
    site.write("connector.yaml", &connector("web", echo()));
    site.until("Listener-web", "Ready", "OK");
    // The file has an invalid port, and then an unknown field: the earlier objects stay.
    site.write("a.yaml", &site.listener("web", 0, ""));
    let told = site.until_told("input/resources/a.yaml:1: Listener web cannot be used");
    assert!(told.contains("spec.port"), "{told}");
    echoes(&site.listener_address(8080));
    site.write("a.yaml", &site.listener("web", 8080, ", prot: 1"));
    site.until_told("prot");
    site.write("a.yaml", &listener);
    site.until_whole();
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n";
    let link = "apiVersion: skupper.io/v2alpha1\nkind: SecuredAccess\nmetadata: {name: l}\n";
    let doubled = site.listener("web", 8099, "");
    site.write(
        "b.yaml",
        &format!(
            "{map}---\n{link}---\n{doubled}---\n{}",
            site.listener("fine", 8081, "")
        ),
    );
    site.until_told(
        "input/resources/b.yaml:9: Listener web is also in input/resources/a.yaml, which counts",
    );
    let told = site.read_faults();
    assert!(
        told.contains("b.yaml:1: ConfigMap m has no meaning"),
        "{told}"
    );
    assert!(told.contains("b.yaml:5: SecuredAccess l "), "{told}");
    echoes(&site.listener_address(8081));
    echoes(&site.listener_address(8080));
    // A name that would lead to something else of another object.
    site.write("d.yaml", &site.listener("web/status", 8082, ""));
    site.until_told("d.yaml:1: Listener web/status cannot be used: no Listener can be named");
    echoes(&site.listener_address(8080));
    site.remove("d.yaml");
    site.write("c.txt", "not ours");
    site.remove("b.yaml");
    site.until_whole();
}

fn a_file_that_is_written_slowly_is_read_when_it_is_whole() {
    let site = Site::running();
    let text = site.listener("web", 8080, "");
    site.write("listener.yaml", &text);
    site.write("connector.yaml", &connector("web", echo()));
    site.until("Listener-web", "Ready", "OK");
    let uid = site.value("Listener-web", "metadata.uid");
    let mut open = TcpStream::connect(site.listener_address(8080)).unwrap();
    // The file is emptied and filled byte by byte: no intermediate content means that the Listener
    // is gone.
    let path = site.path("input/resources/listener.yaml");
    let mut file = fs::File::create(&path).unwrap();
    for byte in text
        .replace("port: 8080", "port: 8080, observer: none")
        .as_bytes()
    {
        file.write_all(&[*byte]).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    drop(file);
    eventually("the edit is applied", || {
        let observer = site.value("Listener-web", "spec.observer");
        (observer == "none")
            .then_some(())
            .ok_or(observer.to_string())
    });
    assert_eq!(site.value("Listener-web", "metadata.uid"), uid);
    super::support::goes_on(&mut open);
}

fn pipes_in_the_place_of_files_stop_nothing() {
    let mut site = Site::running();
    for path in [
        "input/resources/pipe.yaml",
        "input/certs/web/tls.crt",
        "runtime/errors.txt.new",
        "runtime/state.json.new",
        "runtime/resources/pipe.yaml",
    ] {
        let (path, mode) = (site.path(path), Mode::RUSR | Mode::WUSR);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        mknodat(CWD, path, FileType::Fifo, mode, 0).unwrap();
    }
    site.until_told("input/resources/pipe.yaml: cannot be read: it is no file");
    site.until_told("input/certs/web/tls.crt: cannot be read: it is no file");
    site.write("listener.yaml", &site.listener("web", 8080, ""));
    site.write("connector.yaml", &connector("web", echo()));
    for _ in 0..2 {
        site.until("Listener-web", "Ready", "OK");
        echoes(&site.listener_address(8080));
        assert_eq!(site.stop(), Some(0));
        site.start();
    }
}

fn a_directory_that_is_none_or_a_state_that_is_broken_is_told() {
    let site = Site::new();
    let run = || {
        let output = site.command().output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    site.write_file("runtime/state.json", b"{");
    let (code, said) = run();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("state.json is broken"), "{said}");
    assert_eq!(fs::read(site.path("runtime/state.json")).unwrap(), b"{");
    fs::remove_dir_all(site.path("runtime")).unwrap();
    fs::write(site.path("runtime"), "a file").unwrap();
    let (code, said) = run();
    assert!(code == Some(1) && said.contains("runtime"), "{said}");
}

/// A certificate authority, its certificate as PEM.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    /// Writes a certificate for `localhost` into the folder of a Secret.
    fn issue(&self, site: &Site, name: &str) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let put = |file: &str, text: &str| {
            site.write_file(&format!("input/certs/{name}/{file}"), text.as_bytes());
        };
        put("ca.crt", &self.0.pem());
        put("tls.crt", &certificate.pem());
        put("tls.key", &key.serialize_pem());
    }

    /// Checks that a client that trusts only this authority gets back the random bytes that it
    /// sends.
    fn is_served(&self, at: &str) -> Result<(), String> {
        let mut trusted = RootCertStore::empty();
        let own = CertificateDer::from_pem_slice(self.0.pem().as_bytes()).unwrap();
        trusted.add(own).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(trusted)
            .with_no_client_auth();
        let name = ServerName::try_from("localhost").unwrap();
        let client = ClientConnection::new(Arc::new(config), name).unwrap();
        let stream = TcpStream::connect(at).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(SOON)).unwrap();
        let mut stream = StreamOwned::new(client, stream);
        let sent = random(10_000);
        stream.write_all(&sent).map_err(|error| error.to_string())?;
        let mut back = vec![0; sent.len()];
        stream
            .read_exact(&mut back)
            .map_err(|error| error.to_string())?;
        assert!(back == sent);
        Ok(())
    }

    #[track_caller]
    fn is_soon_served(&self, at: &str) {
        eventually("the certificate is shown", || self.is_served(at));
    }
}

fn s31_s54_s55_s56_s57_certificates_come_are_rotated_and_go() {
    let site = Site::running();
    site.write(
        "listener.yaml",
        &site.listener("web", 8080, ", tlsCredentials: web"),
    );
    site.write("plain.yaml", &site.listener("plain", 8081, ""));
    site.write("connector.yaml", &connector("web", echo()));
    let missing = "TLS credentials secret \"web\" not found";
    site.until("Listener-web", "Error", missing);
    site.until("Listener-plain", "Ready", "OK");
    echoes(&site.listener_address(8081));
    refused(&site.listener_address(8080));
    let first = Authority::new();
    first.issue(&site, "web");
    site.until("Listener-web", "Ready", "OK");
    first.is_soon_served(&site.listener_address(8080));
    // Plaintext is not understood.
    let mut plain = TcpStream::connect(site.listener_address(8080)).unwrap();
    plain.set_read_timeout(Some(SOON)).unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let _half = plain.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    let _broken = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"GET"));
    let second = Authority::new();
    second.issue(&site, "web");
    second.is_soon_served(&site.listener_address(8080));
    assert!(first.is_served(&site.listener_address(8080)).is_err());
    fs::remove_dir_all(site.path("input/certs/web")).unwrap();
    site.until("Listener-web", "Error", missing);
    refused(&site.listener_address(8080));
    echoes(&site.listener_address(8081));
    second.issue(&site, "web");
    site.until("Listener-web", "Ready", "OK");
    second.is_soon_served(&site.listener_address(8080));
}

fn s57_a_rotation_that_does_not_fit_is_told_and_the_last_good_pair_serves() {
    let site = Site::running();
    let good = Authority::new();
    good.issue(&site, "web");
    site.write(
        "listener.yaml",
        &site.listener("web", 8080, ", tlsCredentials: web"),
    );
    site.write("connector.yaml", &connector("web", echo()));
    site.until("Listener-web", "Ready", "OK");
    let strange = KeyPair::generate().unwrap().serialize_pem();
    site.write_file("input/certs/web/tls.key", strange.as_bytes());
    let said = "sslProfile `web`: the private key `web/tls.key` does not belong to the certificate";
    site.until("Listener-web", "Error", said);
    assert_eq!(
        site.value("Listener-web", "status.hasMatchingConnector"),
        true
    );
    good.is_served(&site.listener_address(8080)).unwrap();
    let next = Authority::new();
    next.issue(&site, "web");
    site.until("Listener-web", "Ready", "OK");
    next.is_soon_served(&site.listener_address(8080));
}
