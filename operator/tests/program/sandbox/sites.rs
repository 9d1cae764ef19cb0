//! Skupper sites in the sandbox: their routers carry bytes, and two are joined by a token.

use super::*;

/// The example of a site at an address that no other test uses.
fn site(folder: &Path, address: &str) -> PathBuf {
    let text = fs::read_to_string(example("skupper.yaml")).unwrap();
    let file = folder.join("site.yaml");
    assert!(text.contains("host: 127.0.0.1"));
    let text = text.replace("host: 127.0.0.1", &format!("host: {address}"));
    fs::write(&file, text).unwrap();
    file
}

/// Loopback has many addresses, and tests run in several processes.
fn own_address(last: u8) -> String {
    format!("127.{}.7.{last}", 100 + std::process::id() % 120)
}

/// Sends random bytes and compares all that comes back.
#[track_caller]
fn echoes(address: &str) {
    let mut sent = vec![0; 1 << 20];
    fs::File::open("/dev/urandom")
        .unwrap()
        .read_exact(&mut sent)
        .unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    let mut writer = stream.try_clone().unwrap();
    let bytes = sent.clone();
    let writing = std::thread::spawn(move || {
        writer.write_all(&bytes).unwrap();
        writer.shutdown(std::net::Shutdown::Write).unwrap();
    });
    let mut back = Vec::new();
    stream.read_to_end(&mut back).unwrap();
    writing.join().unwrap();
    assert!(back == sent, "{} bytes came back", back.len());
}

#[test]
fn a_site_comes_to_ready_carries_bytes_and_shows_the_way_back() {
    let folder = tempfile::tempdir().unwrap();
    let address = own_address(1);
    let file = site(folder.path(), &address);
    let output = run(&[
        "--once",
        "--timeout",
        "120",
        "--local-address",
        &address,
        file.to_str().unwrap(),
    ]);
    let said = text(&output.stdout);
    let failed = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}{failed}");
    assert_eq!(failed, "");
    let listener = "default/listener.skupper.io/echo";
    let steps = [
        format!("what is sent to {address}:7007 comes back"),
        "site west applied".to_owned(),
        "connector echo applied".to_owned(),
        "listener echo applied".to_owned(),
        format!("{listener}  Unreachable   Pending: "),
        format!("{listener}  Ready         at {address}:1024"),
        format!("262144 random bytes came back from {address}:1024 as they were sent"),
        "connector echo deleted".to_owned(),
        format!("{listener}  Unmatched     Pending: No matching connectors"),
        format!("{address}:1024 refuses connections"),
        "connector echo applied again".to_owned(),
        format!("{listener}  Ready         at {address}:1024"),
        format!("262144 random bytes came back from {address}:1024 as they were sent"),
    ];
    let mut rest = said.as_str();
    for step in &steps {
        let at = rest.find(step.as_str());
        let at = at.unwrap_or_else(|| panic!("`{step}` is missing in:\n{said}"));
        rest = &rest[at + step.len()..];
    }
    assert!(said.contains("default/site.skupper.io/west  Ready         OK"));
    assert!(said.contains("default/connector.skupper.io/echo  Ready         OK"));
}

#[test]
fn a_site_goes_on_carrying_bytes_of_its_users() {
    let folder = tempfile::tempdir().unwrap();
    let address = own_address(2);
    let file = site(folder.path(), &address);
    let mut running = Running::start(&["--local-address", &address, file.to_str().unwrap()]);
    running.until("Ctrl-C ends it");
    let at = format!("{address}:1024");
    echoes(&at);
    assert_eq!(running.end("-TERM"), Some(0));
    assert!(TcpStream::connect(&at).is_err());
}

#[test]
fn a_port_for_the_echo_that_is_in_use_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let address = own_address(3);
    let file = site(folder.path(), &address);
    let _taken = std::net::TcpListener::bind((address.as_str(), 7007)).unwrap();
    let said = refused(&["--local-address", &address, file.to_str().unwrap()]);
    assert!(
        said.contains("port 7007") && said.contains("--echo-port"),
        "{said}"
    );
    let said = run(&["--local-address", "192.0.2.1"]);
    assert_eq!(said.status.code(), Some(2));
}

#[test]
fn a_port_for_links_that_is_in_use_is_told_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (own_address(8), own_address(9));
    let manifests = fs::read_to_string(example("skupper-network.yaml")).unwrap();
    let file = folder.path().join("network.yaml");
    fs::write(&file, &manifests).unwrap();
    // Either router may be the one at the second address.
    let _taken = std::net::TcpListener::bind((second.as_str(), 45671)).unwrap();
    let words = ["--local-address", &first, file.to_str().unwrap()];
    let said = refused(&words);
    let expected = format!(
        "port 45671 of {second} is in use, where a router of the sandbox is to accept links (role edge of Site `west/west`): "
    );
    assert!(said.contains(&expected), "{said}");
    assert!(said.contains("--local-address"), "{said}");
    assert_eq!(text(&run(&words).stdout), "", "nothing has started");
}

#[test]
fn two_sites_have_routers_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (own_address(4), own_address(5));
    let file = site(folder.path(), &first);
    let one = fs::read_to_string(&file).unwrap();
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: east}\n---\n";
    let two = one.replace("namespace: default", "namespace: east");
    fs::write(&file, format!("{one}---\n{namespace}{two}")).unwrap();
    let output = run(&[
        "--once",
        "--timeout",
        "120",
        "--local-address",
        &first,
        file.to_str().unwrap(),
    ]);
    let said = text(&output.stdout);
    let failed = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}{failed}");
    for address in [&first, &second] {
        let came_back = format!("262144 random bytes came back from {address}:1024");
        assert!(
            said.contains(&came_back),
            "{came_back} is missing in:\n{said}"
        );
    }
}

#[test]
fn two_sites_are_joined_by_a_token_and_the_way_back_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let (west, east) = (own_address(6), own_address(7));
    let manifests = fs::read_to_string(example("skupper-network.yaml")).unwrap();
    assert_eq!(manifests.matches("host: 127.0.0.1").count(), 2);
    let file = folder.path().join("network.yaml");
    let manifests = manifests.replace("host: 127.0.0.1", &format!("host: {west}"));
    fs::write(&file, manifests).unwrap();
    let output = run(&[
        "--once",
        "--timeout",
        "120",
        "--local-address",
        &west,
        file.to_str().unwrap(),
    ]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(text(&output.stderr), "");
    // Which of the two routers starts first has the first address.
    let came_back = |address: &str| format!("262144 random bytes came back from {address}:1024");
    let cut = said.find("link to-west deleted").unwrap();
    let restored = said.find("link to-west applied again").unwrap();
    let parts = [&said[..cut], &said[cut..restored], &said[restored..]];
    for address in [&west, &east] {
        for linked in [parts[0], parts[2]] {
            assert!(linked.contains(&came_back(address)), "{address}:\n{said}");
        }
        let refuses = format!("{address}:1024 refuses connections");
        assert!(parts[1].contains(&refuses), "{said}");
    }
    let token =
        "accesstoken to-west applied, with url and ca of the status of accessgrant west/for-east";
    assert!(parts[0].contains(token), "{said}");
    for listener in [
        "east/listener.skupper.io/orders",
        "west/listener.skupper.io/stock",
    ] {
        let unmatched = format!("{listener}  Unmatched     Pending: No matching connectors");
        assert!(parts[1].contains(&unmatched), "{said}");
    }
    // No other error occurs on the way. An object that is reconciled before the Sites are cached
    // may miss them.
    let mut wrong = said.lines().filter(|line| line.contains("  Error: "));
    let unseen = "Error: No active site in namespace";
    assert!(wrong.all(|line| line.ends_with(unseen)), "{said}");
}

#[test]
fn a_token_whose_grant_is_not_there_is_missed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token.yaml");
    let token = "apiVersion: skupper.io/v2alpha1\nkind: AccessToken\nmetadata: {name: a, namespace: default}\nspec: {code: c}\n";
    fs::write(&file, token).unwrap();
    let output = run(&["--once", "--timeout", "1", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(
        said.contains(
            "default/accesstoken.skupper.io/a: Waiting no AccessGrant with its code is Ready yet"
        ),
        "{said}"
    );
}
