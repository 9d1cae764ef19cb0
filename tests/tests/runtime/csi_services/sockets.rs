//! Sockets of the services, the other information that the services report about themselves, and
//! their end.

use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use lifecycle_csi::Error;
use lifecycle_proto::registration;
use lifecycle_proto::registration::registration_client::RegistrationClient;
use lifecycle_runtime::health::Health;
use lifecycle_runtime::shutdown::{Shutdown, Trigger};
use lifecycle_tests::harness::eventually;
use lifecycle_tests::volumes::client::{Running, connect};
use lifecycle_tests::volumes::{NAME, Places, operator, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

pub(crate) fn cases() -> Vec<Case> {
    named![case(&[]): a_socket_is_for_its_owner_alone_and_goes_with_the_driver, a_stale_socket_gives_way_and_no_other_file_does, b14_a_path_that_the_kernel_does_not_take_is_refused_at_the_start, health_is_told_of_each_service, reflection_names_what_is_served, b15_callers_may_name_any_authority, kubelet_finds_the_driver_and_a_driver_that_it_refuses_ends, a_socket_that_another_process_removes_is_made_again, b14_a_socket_of_a_process_that_lives_is_left_to_it]
}

const LIMIT: Duration = Duration::from_secs(120);

async fn a_socket_is_for_its_owner_alone_and_goes_with_the_driver() -> Result<()> {
    let driver = Running::start().await?;
    let sockets = [driver.places.controller.clone(), driver.places.node.clone()];
    for socket in &sockets {
        let mode = std::fs::metadata(socket)?.permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let _folder = driver.stop().await?;
    assert!(sockets.iter().all(|socket| !socket.exists()));
    Ok(())
}

async fn a_stale_socket_gives_way_and_no_other_file_does() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let places = Places::inside(folder.path());
    drop(UnixListener::bind(&places.node)?);
    let (trigger, shutdown) = Shutdown::pair();
    let served = tokio::spawn(serve(places.clone(), shutdown));
    connect(&places.node).await?;
    trigger.stop();
    timeout(LIMIT, served).await???;
    std::fs::write(&places.node, "precious")?;
    let (_trigger, shutdown) = Shutdown::pair();
    let refused = serve(places.clone(), shutdown).await;
    assert!(matches!(refused, Err(Error::Socket { .. })), "{refused:?}");
    assert_eq!(std::fs::read(&places.node)?, b"precious");
    Ok(())
}

async fn b14_a_path_that_the_kernel_does_not_take_is_refused_at_the_start() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut places = Places::inside(folder.path());
    places.node = folder.path().join("x".repeat(108));
    let (_trigger, shutdown) = Shutdown::pair();
    let refused = serve(places, shutdown).await;
    assert!(matches!(refused, Err(Error::Socket { .. })), "{refused:?}");
    Ok(())
}

async fn health_is_told_of_each_service() -> Result<()> {
    let driver = Running::start().await?;
    let mut health = HealthClient::new(connect(&driver.places.node).await?);
    for service in ["", "csi.v1.Identity", "csi.v1.Node"] {
        let service = service.to_owned();
        let answer = health.check(HealthCheckRequest { service }).await?;
        assert_eq!(answer.into_inner().status, 1, "serving");
    }
    let service = "csi.v1.Controller".to_owned();
    let elsewhere = health.check(HealthCheckRequest { service }).await;
    assert!(elsewhere.is_err(), "it is at the other socket");
    driver.stop().await?;
    Ok(())
}

async fn reflection_names_what_is_served() -> Result<()> {
    use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
    use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
    use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
    use tonic_reflection::pb::v1::{ListServiceResponse, ServerReflectionRequest};
    let driver = Running::start().await?;
    let mut reflection = ServerReflectionClient::new(connect(&driver.places.node).await?);
    let list = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let asked = futures::stream::iter([list]);
    let mut answers = reflection.server_reflection_info(asked).await?.into_inner();
    let answer = answers
        .message()
        .await?
        .and_then(|answer| answer.message_response);
    let Some(MessageResponse::ListServicesResponse(ListServiceResponse { service })) = answer
    else {
        bail!("no list of services: {answer:?}");
    };
    let names: Vec<_> = service.into_iter().map(|service| service.name).collect();
    for name in ["csi.v1.Identity", "csi.v1.Node", "grpc.health.v1.Health"] {
        assert!(names.iter().any(|served| served == name), "{names:?}");
    }
    assert!(!names.iter().any(|served| served == "csi.v1.Controller"));
    driver.stop().await?;
    Ok(())
}

/// A header as HTTP/2 packs it in the plainest way.
fn header(name: &str, value: &str) -> Vec<u8> {
    let text = |text: &str| {
        let length = u8::try_from(text.len()).expect("a short text");
        [&[length], text.as_bytes()].concat()
    };
    [vec![0], text(name), text(value)].concat()
}

fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).expect("a short frame");
    [&[0, 0, length, kind, flags, 0, 0, 0, stream], payload].concat()
}

/// The kinds of the frames that answer a `Probe` with this authority, up to the first that ends the stream.
async fn frames_for(driver: &Running, authority: &str) -> Result<Vec<u8>> {
    let mut connection = UnixStream::connect(&driver.places.node).await?;
    let headers = [
        header(":method", "POST"),
        header(":scheme", "http"),
        header(":path", "/csi.v1.Identity/Probe"),
        header(":authority", authority),
        header("content-type", "application/grpc"),
        header("te", "trailers"),
    ];
    let request = [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        frame(4, 0, 0, &[]),
        frame(1, 4, 1, &headers.concat()),
        frame(0, 1, 1, &[0; 5]),
    ];
    connection.write_all(&request.concat()).await?;
    let mut kinds = Vec::new();
    loop {
        let mut head = [0; 9];
        connection.read_exact(&mut head).await?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(length)?];
        connection.read_exact(&mut payload).await?;
        if head[8] == 1 {
            kinds.push(head[3]);
            let resets = head[3] == 3;
            let ends = matches!(head[3], 0 | 1) && head[4] & 1 == 1;
            if resets || ends {
                return Ok(kinds);
            }
        }
    }
}

async fn b15_callers_may_name_any_authority() -> Result<()> {
    let driver = Running::start().await?;
    let (headers, data) = (1, 0);
    for authority in [
        "localhost",
        "%2Fvar%2Flib%2Fkubelet%2Fx-reg.sock",
        "/csi/csi.sock",
        "",
    ] {
        let frames = timeout(LIMIT, frames_for(&driver, authority)).await??;
        assert_eq!(frames, [headers, data, headers], "{authority:?}");
    }
    driver.stop().await?;
    Ok(())
}

async fn kubelet_finds_the_driver_and_a_driver_that_it_refuses_ends() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut places = Places::inside(folder.path());
    places.registrations = Some(folder.path().to_owned());
    let (_trigger, shutdown) = Shutdown::pair();
    let served = tokio::spawn(serve(places.clone(), shutdown));
    let socket = folder.path().join(format!("{NAME}-reg.sock"));
    let mut kubelet = RegistrationClient::new(connect(&socket).await?);
    let info = kubelet
        .get_info(registration::InfoRequest {})
        .await?
        .into_inner();
    assert_eq!(
        (info.r#type.as_str(), info.name.as_str()),
        ("CSIPlugin", NAME)
    );
    assert_eq!(info.endpoint, places.node.display().to_string());
    assert_eq!(info.supported_versions, ["1.0.0"]);
    let status = |plugin_registered: bool, error: &str| registration::RegistrationStatus {
        plugin_registered,
        error: error.to_owned(),
    };
    kubelet.notify_registration_status(status(true, "")).await?;
    ensure!(!served.is_finished(), "it was taken in");
    // The process may end before its answer is out.
    let _ = kubelet
        .notify_registration_status(status(false, "no such node"))
        .await;
    let ended = timeout(LIMIT, served).await??;
    let said = ended.expect_err("it was refused").to_string();
    assert!(said.contains("no such node"), "{said}");
    assert!(!socket.exists());
    Ok(())
}

/// A driver that registers itself, with its readiness.
struct Registered {
    places: Places,
    socket: std::path::PathBuf,
    health: Health,
    served: JoinHandle<Result<(), Error>>,
    trigger: Trigger,
    _folder: tempfile::TempDir,
}

impl Registered {
    fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut places = Places::inside(folder.path());
        places.registrations = Some(folder.path().to_owned());
        let (trigger, shutdown) = Shutdown::pair();
        let health = Health::default();
        let volumes = operator(places.clone()).health(health.clone());
        Ok(Self {
            socket: folder.path().join(format!("{NAME}-reg.sock")),
            places,
            health,
            served: tokio::spawn(volumes.start_without_cluster(shutdown)),
            trigger,
            _folder: folder,
        })
    }

    /// As kubelet does when it finds a socket.
    async fn register(&self) -> Result<()> {
        let mut kubelet = RegistrationClient::new(connect(&self.socket).await?);
        let info = kubelet.get_info(registration::InfoRequest {}).await?;
        ensure!(info.into_inner().name == NAME);
        let status = registration::RegistrationStatus {
            plugin_registered: true,
            error: String::new(),
        };
        kubelet.notify_registration_status(status).await?;
        Ok(())
    }

    /// Waits until readiness reports exactly this as missing.
    async fn lacks(&self, words: Option<&str>) -> Result<()> {
        eventually("readiness says it", LIMIT, async || {
            let missing = self.health.missing();
            let said = match (words, missing.as_slice()) {
                (None, []) => true,
                (Some(words), [(_, why), ..]) => why.contains(words),
                (None, _) | (Some(_), []) => false,
            };
            Ok(said.then_some(()))
        })
        .await
    }

    async fn stop(self) -> Result<()> {
        self.trigger.stop();
        timeout(LIMIT, self.served).await???;
        Ok(())
    }
}

/// As a registrar of another operator does at its end; kubelet then takes the driver for gone.
async fn a_socket_that_another_process_removes_is_made_again() -> Result<()> {
    let driver = Registered::start()?;
    driver.register().await?;
    driver.lacks(None).await?;
    for _ in 0..2 {
        std::fs::remove_file(&driver.socket)?;
        driver.lacks(Some("kubelet has not registered")).await?;
        driver.register().await?;
        driver.lacks(None).await?;
    }
    std::fs::remove_file(&driver.places.node)?;
    connect(&driver.places.node).await?;
    let sockets = [driver.socket.clone(), driver.places.node.clone()];
    for socket in &sockets {
        let mode = std::fs::metadata(socket)?.permissions().mode();
        ensure!(mode & 0o777 == 0o600, "{}", socket.display());
    }
    driver.stop().await?;
    ensure!(sockets.iter().all(|socket| !socket.exists()));
    Ok(())
}

/// Checks that a live process keeps its socket, and that the socket is taken over after it ends.
/// Two processes that took it from each other would never stop.
async fn b14_a_socket_of_a_process_that_lives_is_left_to_it() -> Result<()> {
    let driver = Registered::start()?;
    driver.register().await?;
    driver.lacks(None).await?;
    std::fs::remove_file(&driver.socket)?;
    let other = UnixListener::bind(&driver.socket)?;
    driver.lacks(Some("another process listens at")).await?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    driver.lacks(Some("another process listens at")).await?;
    drop(other);
    driver.register().await?;
    driver.lacks(None).await?;
    driver.stop().await
}
