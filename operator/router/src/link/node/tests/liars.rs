//! Peers that are no routers.

use std::task::{Context, Poll};

use tokio::io::{
    AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, DuplexStream, ReadBuf, duplex,
};
use tokio::task::JoinHandle;
use tokio_util::compat::{FuturesAsyncReadCompatExt as _, TokioAsyncReadCompatExt as _};

use super::*;
use crate::link::announcement::Announcement;
use crate::link::announcement::about::About;
use crate::link::frame::record::{Record, Request};

pub(super) type Stream = tokio_util::compat::Compat<yamux::Stream>;

/// Requests for streams to the node.
pub(super) type StreamRequests = mpsc::UnboundedSender<tokio::sync::oneshot::Sender<Stream>>;

/// A peer that speaks as it likes to the node `site-00`, which has an honest neighbour too, or to that one.
pub(super) struct Liar {
    pub(super) world: Arc<World>,
    pub(super) asks: StreamRequests,
    /// Streams that the node opens.
    pub(super) incoming: mpsc::UnboundedReceiver<Stream>,
    pub(super) control: Stream,
    pub(super) ended: JoinHandle<Ended>,
    number: usize,
}

async fn run_connection(
    io: DuplexStream,
    mut asked: mpsc::UnboundedReceiver<tokio::sync::oneshot::Sender<Stream>>,
    let_in: mpsc::UnboundedSender<Stream>,
) {
    let mut config = yamux::Config::default();
    config.set_max_connection_receive_window(None);
    config.set_max_num_streams(100_000);
    let mut connection = yamux::Connection::new(io.compat(), config, yamux::Mode::Client);
    std::future::poll_fn(|cx| {
        while let std::task::Poll::Ready(Some(answer)) = asked.poll_recv(cx) {
            if let std::task::Poll::Ready(Ok(stream)) = connection.poll_new_outbound(cx) {
                drop(answer.send(stream.compat()));
            }
        }
        while let Some(Ok(stream)) = std::task::ready!(connection.poll_next_inbound(cx)) {
            drop(let_in.send(stream.compat()));
        }
        std::task::Poll::Ready(())
    })
    .await;
}

impl Liar {
    pub(super) async fn new() -> Self {
        let world = World::line(2).await;
        world.set_keys(0, &[1, 902]);
        world.set_keys(1, &[1]);
        Self::connect_as(Arc::new(world), 0, 9).await
    }

    /// As this site, beside a node of a world.
    pub(super) async fn connect_as(world: Arc<World>, at: usize, number: usize) -> Self {
        let (io, accepted) = duplex(64 * 1024);
        let node = world.nodes[at].clone();
        let terms = Terms {
            identity: Some(site(number)),
            ..Terms::default()
        };
        let ended = tokio::spawn(async move { node.link(accepted, Side::Accept, &terms).await });
        let (asks, asked) = mpsc::unbounded_channel();
        let (let_in, incoming) = mpsc::unbounded_channel();
        tokio::spawn(run_connection(io, asked, let_in));
        let control = Self::request_stream(&asks).await;
        Self {
            world,
            asks,
            incoming,
            control,
            ended,
            number,
        }
    }

    pub(super) async fn request_stream(asks: &StreamRequests) -> Stream {
        let (answer, answered) = tokio::sync::oneshot::channel();
        asks.send(answer).unwrap();
        answered.await.unwrap()
    }

    fn hello() -> Hello {
        Hello {
            versions: 2..=2,
            site: site(9),
            instance: 1,
            role: Role::Interior,
            cost: 1,
        }
    }

    async fn send_frame(&mut self, frame: &Frame) {
        // It may have been cut off by now.
        drop(self.control.write_all(&frame.encode()).await);
    }

    pub(super) async fn greet(&mut self, role: Role) {
        let hello = Hello {
            role,
            site: site(self.number),
            ..Self::hello()
        };
        self.send_frame(&Frame::Hello(hello)).await;
        self.send_frame(&Frame::Alive).await;
        sleep(Duration::from_millis(100)).await;
    }

    pub(super) fn announcement(number: usize, sequence: u64) -> Announcement {
        Announcement {
            origin: site(number),
            version: Version {
                instance: 1,
                sequence,
            },
            role: Role::Interior,
            links: BTreeMap::from([(site(0), 1)]),
            keys: BTreeSet::new(),
            about: About::default(),
        }
    }

    pub(super) async fn announce(&mut self, announcement: Announcement) {
        self.send_frame(&Frame::Announce(Arc::new(announcement)))
            .await;
    }

    /// Checks that the peer is cut off with this reason, that it receives the reason, and that no
    /// other node is harmed.
    async fn ends_with(mut self, reason: &str) {
        let ended = timeout(Duration::from_secs(20), self.ended).await;
        let ended = ended.expect("it is cut off").unwrap().to_string();
        assert_eq!(ended, reason);
        let mut heard = Vec::new();
        drop(
            timeout(
                Duration::from_secs(10),
                self.control.read_to_end(&mut heard),
            )
            .await,
        );
        let told = reason.trim_start_matches("it was cut off: ");
        let heard = String::from_utf8_lossy(&heard);
        assert!(heard.contains(told), "it is told {reason}");
        is_well(&self.world).await;
    }
}

pub(super) async fn is_well(world: &World) {
    assert_eq!(world.nodes[0].links(), [site(1)]);
    let mut stream = world.nodes[1].open(&key(1), &site(0)).await.unwrap();
    stream.write_all(b"hello").await.unwrap();
    stream.shutdown().await.unwrap();
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard).await.unwrap();
    assert_eq!(heard, b"hello");
    assert_eq!(world.nodes[1].routes().borrow().sites.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn who_does_not_fit_is_refused_with_the_reason() {
    type Lie = fn(&mut Hello);
    let other: [(&str, Lie); 4] = [
        (
            "it speaks versions 3 to 9 of the protocol, and this router 2 to 2",
            |hello| {
                hello.versions = 3..=9;
            },
        ),
        (
            "it claims to be site site-01, but its certificate is for site site-09",
            |hello| hello.site = site(1),
        ),
        ("it declares the invalid link cost 0", |hello| {
            hello.cost = 0
        }),
        ("it declares the invalid link cost 1000001", |hello| {
            hello.cost = 1_000_001
        }),
    ];
    for (reason, change) in other {
        let mut liar = Liar::new().await;
        let mut hello = Liar::hello();
        change(&mut hello);
        liar.send_frame(&Frame::Hello(hello)).await;
        liar.ends_with(reason).await;
    }
    let mut liar = Liar::new().await;
    liar.send_frame(&Frame::Alive).await;
    liar.ends_with("its first frame did not identify it").await;
}

/// Connection whose other side has sent its reason for hanging up and receives nothing any more.
struct HungUp(Pin<Box<tokio::time::Sleep>>);

impl AsyncRead for HungUp {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let arrived = self.0.as_mut().poll(cx);
        arrived.map(|()| Err(io::Error::other("it does not take our certificate")))
    }
}

impl AsyncWrite for HungUp {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
    }
}

#[tokio::test(start_paused = true)]
async fn who_hangs_up_is_reported_with_the_reason_and_not_with_what_it_did_not_hear() {
    let world = World::new(1);
    for late in [0, 1, 50] {
        let io = HungUp(Box::pin(sleep(Duration::from_millis(late))));
        let terms = Terms::default();
        let ended = world.nodes[0].link(io, Side::Dial, &terms).await;
        let said = crate::cause::chain(&ended);
        assert!(said.contains("it does not take our certificate"), "{said}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_handshake_that_is_not_finished_ends_in_five_seconds() {
    let since = Instant::now();
    let mut liar = Liar::new().await;
    liar.control.write_all(&[0, 0]).await.unwrap();
    liar.ends_with("it did not identify itself in time").await;
    assert!(since.elapsed() < Duration::from_secs(7));
    let world = World::new(1);
    let (_io, accepted) = duplex(64);
    let since = Instant::now();
    let terms = Terms::default();
    let ended = world.nodes[0].link(accepted, Side::Accept, &terms).await;
    assert_eq!(ended.to_string(), "it did not identify itself in time");
    assert!(since.elapsed() < Duration::from_secs(6));
}

#[tokio::test(start_paused = true)]
async fn lies_are_cut_off_by_name() {
    let mut liar = Liar::new().await;
    liar.greet(Role::Interior).await;
    let mut free = Liar::announcement(9, 1);
    free.links.insert(site(0), 0);
    liar.announce(free).await;
    liar.ends_with("it was cut off: a link of site site-09 costs 0")
        .await;

    let mut liar = Liar::new().await;
    liar.greet(Role::Edge).await;
    liar.announce(Liar::announcement(1, 99)).await;
    liar.ends_with("it was cut off: it is an edge site and announced site site-01")
        .await;

    let mut liar = Liar::new().await;
    liar.greet(Role::Interior).await;
    liar.greet(Role::Interior).await;
    liar.ends_with("it was cut off: it greets twice").await;

    let mut liar = Liar::new().await;
    liar.greet(Role::Interior).await;
    drop(liar.control.write_all(&[0x7f; 4]).await);
    liar.ends_with("it was cut off: a frame of 2139062143 bytes")
        .await;

    let mut liar = Liar::new().await;
    liar.greet(Role::Interior).await;
    drop(liar.control.write_all(&[0, 0, 0, 1, 77]).await);
    liar.ends_with("it was cut off: a frame that means nothing")
        .await;
}

#[tokio::test(start_paused = true)]
async fn floods_replays_and_invented_sites_are_cut_off_by_name() {
    let mut liar = Liar::new().await;
    liar.greet(Role::Interior).await;
    for sequence in 1..6000 {
        liar.announce(Liar::announcement(9, sequence)).await;
    }
    liar.ends_with("it was cut off: it floods").await;

    let mut liar = Liar::new().await;
    liar.greet(Role::Interior).await;
    for _ in 1..4000 {
        liar.announce(Liar::announcement(9, 1)).await;
    }
    liar.ends_with("it was cut off: it repeats old announcements")
        .await;

    let mut liar = Liar::new().await;
    liar.greet(Role::Interior).await;
    for number in 10..1000 {
        liar.announce(Liar::announcement(number, 1)).await;
    }
    liar.ends_with("it was cut off: it announced too many sites")
        .await;

    let mut liar = Liar::new().await;
    liar.greet(Role::Interior).await;
    for _ in 0..40_000 {
        liar.send_frame(&Frame::Alive).await;
    }
    liar.ends_with("it was cut off: it floods").await;
}

#[tokio::test(start_paused = true)]
async fn thousands_of_streams_are_cut_off_by_name() {
    let (world, io, ended) = raw().await;
    let (mut reader, mut io) = tokio::io::split(io);
    let hears = tokio::spawn(async move {
        let mut heard = Vec::new();
        drop(reader.read_to_end(&mut heard).await);
        heard
    });
    for number in 1..5000_u32 {
        // Opens a stream of the multiplexer and sends nothing on it.
        let mut opens = vec![0, 0, 0, 1];
        opens.extend((2 * number + 1).to_be_bytes());
        opens.extend([0; 4]);
        if io.write_all(&opens).await.is_err() {
            break;
        }
    }
    let ended = ended.await.unwrap().to_string();
    assert_eq!(ended, "it was cut off: it opens too many streams");
    let heard = hears.await.unwrap();
    let heard = String::from_utf8_lossy(&heard);
    assert!(heard.contains("it opens too many streams"));
    is_well(&world).await;
}

#[tokio::test(start_paused = true)]
async fn who_sends_more_than_there_is_room_for_is_cut_off_by_name() {
    let mut liar = Liar::new().await;
    liar.greet(Role::Interior).await;
    let mut stream = Liar::request_stream(&liar.asks).await;
    let mut bytes = Vec::new();
    let request = Request {
        key: key(902),
        site: site(0),
        ttl: 1,
    };
    Record::Open(request).encode_into(&mut bytes);
    stream.write_all(&bytes).await.unwrap();
    sleep(Duration::from_millis(100)).await;
    for _ in 0..20 {
        let mut bytes = Vec::new();
        Record::Data(&[1; 16_000]).encode_into(&mut bytes);
        drop(stream.write_all(&bytes).await);
        sleep(Duration::from_millis(10)).await;
    }
    liar.ends_with("it was cut off: it sends more than its credit allows")
        .await;

    let mut liar = Liar::new().await;
    liar.greet(Role::Interior).await;
    let mut stream = Liar::request_stream(&liar.asks).await;
    let mut bytes = Vec::new();
    Record::Data(b"early").encode_into(&mut bytes);
    stream.write_all(&bytes).await.unwrap();
    liar.ends_with("it was cut off: it answers without a request, or requests twice")
        .await;
}

/// A node with an honest neighbour, and the bare connection of another that has greeted it.
async fn raw() -> (World, DuplexStream, JoinHandle<Ended>) {
    let world = World::line(2).await;
    world.set_keys(0, &[1]);
    let (mut io, accepted) = duplex(1024);
    let node = world.nodes[0].clone();
    let link = async move {
        let terms = Terms::default();
        node.link(accepted, Side::Accept, &terms).await
    };
    let ended = tokio::spawn(link);
    // The head of a stream of the multiplexer with the greeting in it.
    let hello = Frame::Hello(Liar::hello()).encode();
    let mut bytes = vec![0, 0, 0, 1, 0, 0, 0, 1];
    bytes.extend(u32::try_from(hello.len()).unwrap().to_be_bytes());
    bytes.extend(hello);
    io.write_all(&bytes).await.unwrap();
    (world, io, ended)
}

#[tokio::test(start_paused = true)]
async fn who_does_not_read_is_cut_off_and_costs_little() {
    let (world, mut io, ended) = raw().await;
    let mut alive = vec![0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5];
    alive.extend(Frame::Alive.encode());
    let talk = async {
        loop {
            sleep(Duration::from_secs(1)).await;
            if io.write_all(&alive).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    };
    let mut number = 1000;
    let change = async {
        loop {
            number += 1;
            let keys: Vec<usize> = (0..500).map(|key| key + number).collect();
            world.set_keys(0, &keys);
            sleep(Duration::from_millis(200)).await;
        }
    };
    let ended = tokio::select! {
        ended = timeout(Duration::from_secs(60), ended) => ended,
        () = talk => unreachable!("it goes on"),
        () = change => unreachable!("it goes on"),
    };
    let ended = ended.expect("it is cut off").unwrap().to_string();
    assert_eq!(ended, "it was cut off: it does not read");
    world.set_keys(0, &[1]);
    is_well(&world).await;
}
