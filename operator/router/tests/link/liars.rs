//! Routers with a valid certificate of the network that lie once they are linked. The link to each
//! reports the lie, and no other router notices.

use std::future::poll_fn;

use lifecycle_router::link::announcement::about::About;
use lifecycle_router::link::announcement::{Announcement, Version};
use lifecycle_router::link::frame::control::{Frame, Hello};
use lifecycle_router::link::security;
use tokio_util::compat::{Compat, FuturesAsyncReadCompatExt as _, TokioAsyncReadCompatExt as _};

use super::*;

/// The words of a liar after its greeting, again and again if that is needed.
enum Lie {
    Once(Vec<u8>),
    Forever(Vec<u8>),
}

const LIAR: &str = "liar";

fn hello(role: Role) -> Frame {
    Frame::Hello(Hello {
        versions: 2..=2,
        site: site(LIAR),
        instance: 1,
        role,
        cost: 1,
    })
}

fn announcement(origin: &str, cost: u32) -> Vec<u8> {
    let announcement = Announcement {
        origin: site(origin),
        version: Version {
            instance: 1,
            sequence: 1,
        },
        role: Role::Interior,
        links: BTreeMap::from([(site("west"), cost)]),
        keys: BTreeSet::from([key()]),
        about: About::default(),
    };
    Frame::Announce(Arc::new(announcement)).encode()
}

/// The stream on which the routers talk, of a connection that goes on by itself.
async fn control(stream: TcpStream, profile: &Slot) -> Option<Compat<yamux::Stream>> {
    let (stream, _) = security::accept(stream, profile).await.ok()?;
    let config = yamux::Config::default();
    let mut connection = yamux::Connection::new(stream.compat(), config, yamux::Mode::Server);
    let first = poll_fn(|cx| connection.poll_next_inbound(cx)).await;
    tokio::spawn(async move {
        while let Some(Ok(_)) = poll_fn(|cx| connection.poll_next_inbound(cx)).await {}
    });
    Some(first?.ok()?.compat())
}

/// Sends the whole lie, and returns the bytes received until the connection was cut.
async fn send_lie(mut control: Compat<yamux::Stream>, role: Role, lie: &Lie) -> Vec<u8> {
    let mut heard = Vec::new();
    if control.write_all(&hello(role).encode()).await.is_err() {
        return heard;
    }
    let (mut reader, mut writer) = tokio::io::split(control);
    let talk = async {
        match lie {
            Lie::Once(bytes) => drop(writer.write_all(bytes).await),
            Lie::Forever(bytes) => while writer.write_all(bytes).await.is_ok() {},
        }
    };
    let (_, ()) = tokio::join!(reader.read_to_end(&mut heard), talk);
    heard
}

/// Starts a router at a socket that greets as a site of the network and then lies, whenever it is
/// linked to. It sends on the data that it receives.
async fn spawn_liar(
    profile: Arc<Slot>,
    role: Role,
    lie: Lie,
) -> (SocketAddr, JoinHandle<()>, watch::Receiver<Vec<u8>>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, told) = watch::channel(Vec::new());
    let lying = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            if let Some(control) = control(stream, &profile).await {
                tell.send_replace(send_lie(control, role, &lie).await);
            }
        }
    });
    (address, lying, told)
}

fn kinds() -> [(&'static str, Role, Lie); 8] {
    let edge = Role::Edge;
    let interior = Role::Interior;
    [
        (
            "it is an edge site and announced site east",
            edge,
            Lie::Once(announcement("east", 1)),
        ),
        (
            "a link of site liar costs 0",
            interior,
            Lie::Once(announcement(LIAR, 0)),
        ),
        (
            "it declares the invalid link cost 0",
            interior,
            Lie::Once(Frame::Cost(0).encode()),
        ),
        (
            "a frame of 2139062143 bytes",
            interior,
            Lie::Once(vec![0x7f; 4]),
        ),
        (
            "a frame that means nothing",
            interior,
            Lie::Once(vec![0, 0, 0, 1, 77]),
        ),
        (
            "it greets twice",
            interior,
            Lie::Once(hello(interior).encode()),
        ),
        (
            "it floods",
            interior,
            Lie::Forever(Frame::Alive.encode().repeat(2000)),
        ),
        (
            "it repeats old announcements",
            interior,
            Lie::Forever(announcement(LIAR, 1).repeat(20)),
        ),
    ]
}

#[tokio::test]
async fn a_link_says_what_a_liar_did_and_an_honest_neighbour_goes_on() {
    let authority = Authority::new();
    let (west, east) = (node("west", 1), node("east", 1));
    let (to_west, _) = listen(&west, 0, authority.profile("west", Named::Uri)).await;
    let honest = dial(&east, to_west, authority.profile("east", Named::Uri));
    reaches(&east, "west").await;
    reaches(&west, "east").await;
    let mut open = east.open(&key(), &site("west")).await.unwrap();
    let profile = authority.profile(LIAR, Named::Uri);
    for (did, role, lie) in kinds() {
        let (at, lying, mut told) = spawn_liar(profile.clone(), role, lie).await;
        let (own, stop) = (
            authority.profile("west", Named::Uri),
            CancellationToken::new(),
        );
        let (state, keeping) = dial_until(&west, at, own, stop.clone());
        is_down(state, &format!("it was cut off: {did}")).await;
        // The liar hears the same.
        let hears = told.wait_for(|heard| String::from_utf8_lossy(heard).contains(did));
        let heard = timeout(SOON, hears).await.map(drop);
        assert!(heard.is_ok(), "it is not told: {did}");
        stop.cancel();
        keeping.await.unwrap();
        lying.abort();
        let mut back = [0; 5];
        open.write_all(b"hello").await.unwrap();
        timeout(SOON, open.read_exact(&mut back))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(&back, b"hello");
        assert_eq!(*honest.borrow(), LinkState::Up(site("west")));
        assert_eq!(west.links(), [site("east")]);
    }
}
