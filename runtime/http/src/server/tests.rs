//! Clients that are slow, greedy or silent, beside one that sends requests. Streams are in memory,
//! and time is paused.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Mutex;

use http_body_util::Full;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::*;

const ASK: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
const LIMITS: Limits = Limits {
    connections: 4,
    waits: 2,
    head: 8192,
    body: 100,
    patience: Duration::from_secs(10),
};

/// Socket whose connections are made by the test.
struct Hand(tokio::sync::Mutex<mpsc::UnboundedReceiver<(DuplexStream, u8)>>);

impl Socket for Hand {
    async fn accept(&self) -> io::Result<(Box<dyn Duplex>, Option<IpAddr>)> {
        let next = self.0.lock().await.recv().await;
        let (stream, client) = next.ok_or(io::ErrorKind::NotConnected)?;
        let client = Ipv4Addr::new(10, 0, 0, client).into();
        Ok((Box::new(stream), Some(client)))
    }
}

/// A server, and how to connect to it.
struct TestServer {
    connect: mpsc::UnboundedSender<(DuplexStream, u8)>,
    _serving: JoinSet<()>,
}

impl TestServer {
    /// Returns a server with one kind of answer. Its answers are this many bytes long, report how
    /// many bytes came, or wait for ever.
    fn new(answer: &'static str) -> Self {
        let (connect, connected) = mpsc::unbounded_channel();
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let socket = Hand(tokio::sync::Mutex::new(connected));
            let answer = move |request: Request<Incoming>, turn: Arc<Turn>| async move {
                let said = match answer {
                    "waits" => format!("{:?}", turn.wait(std::future::pending::<()>()).await),
                    "large" => "x".repeat(1 << 20),
                    _ => match LIMITS.read(request.into_body()).await {
                        Ok(body) => format!("{} bytes", body.len()),
                        Err(why) => why.to_string(),
                    },
                };
                Response::new(Full::<Bytes>::from(said))
            };
            match Server::new(LIMITS).serve(socket, None, answer).await {}
        });
        Self {
            connect,
            _serving: serving,
        }
    }

    /// Connects, and sends some bytes.
    async fn connect(&self, client: u8, said: &[u8]) -> DuplexStream {
        let (mut ours, theirs) = duplex(64 * 1024);
        self.connect.send((theirs, client)).unwrap();
        ours.write_all(said).await.unwrap();
        ours
    }
}

/// All that comes before the end.
async fn read_rest(mut stream: DuplexStream) -> String {
    let mut said = Vec::new();
    let _aborted = stream.read_to_end(&mut said).await;
    String::from_utf8(said).unwrap()
}

#[tokio::test(start_paused = true)]
async fn half_requests_keep_nobody_out_and_end() {
    let place = TestServer::new("body");
    let modest = place.connect(1, b"GET / HTTP/1.1\r\n").await;
    let mut half = Vec::new();
    for _ in 0..40 {
        half.push(place.connect(2, b"GET / HTTP/1.1\r\nX: ").await);
    }
    let began = Instant::now();
    let answer = read_rest(place.connect(3, ASK).await).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    assert!(answer.ends_with("0 bytes"), "{answer}");
    assert!(began.elapsed() < Duration::from_secs(1));
    let mut ended = 0;
    for mut stream in half {
        let mut byte = [0];
        let read = stream.read(&mut byte);
        ended += usize::from(timeout(Duration::from_millis(1), read).await.is_ok());
    }
    assert!(ended >= 40 - LIMITS.connections, "{ended}");
    // Who had one connection alone lost nothing, until the time for a head is over.
    assert_eq!(read_rest(modest).await, "");
    assert!((9..=10).contains(&began.elapsed().as_secs()));
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_another_request_ends() {
    let place = TestServer::new("body");
    let began = Instant::now();
    let stream = place.connect(1, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert!(read_rest(stream).await.ends_with("0 bytes"));
    assert_eq!(began.elapsed(), LIMITS.patience);
}

#[tokio::test(start_paused = true)]
async fn heads_and_bodies_are_bounded_in_size_and_time() {
    let place = TestServer::new("body");
    let head = format!(
        "GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n",
        "x".repeat(9000)
    );
    let answer = read_rest(place.connect(1, head.as_bytes()).await).await;
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    let post = |length: usize, body: &str| {
        format!(
            "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )
    };
    let whole = post(100, &"x".repeat(100));
    let answer = read_rest(place.connect(1, whole.as_bytes()).await).await;
    assert!(answer.ends_with("100 bytes"), "{answer}");
    let large = post(101, &"x".repeat(101));
    let answer = read_rest(place.connect(1, large.as_bytes()).await).await;
    assert!(answer.ends_with("it is larger than 100 bytes"), "{answer}");
    let began = Instant::now();
    let slow = place.connect(1, post(100, "x").as_bytes()).await;
    assert!(
        read_rest(slow)
            .await
            .ends_with("it did not come within 10 s")
    );
    assert_eq!(began.elapsed(), LIMITS.patience);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_not_taken_is_dropped() {
    let place = TestServer::new("large");
    let mut slow = place.connect(1, ASK).await;
    sleep(LIMITS.patience + Duration::from_secs(1)).await;
    let mut taken = Vec::new();
    let _aborted = slow.read_to_end(&mut taken).await;
    assert!(taken.len() < 1 << 20, "{}", taken.len());
}

#[tokio::test(start_paused = true)]
async fn answers_that_wait_keep_nobody_out() {
    let place = TestServer::new("waits");
    let mut waiting = Vec::new();
    for _ in 0..LIMITS.connections {
        waiting.push(place.connect(1, ASK).await);
        tokio::task::yield_now().await;
    }
    let answer = read_rest(waiting.remove(0)).await;
    assert!(answer.ends_with("None"), "{answer}");
    let began = Instant::now();
    let asked: Mutex<Vec<DuplexStream>> = Mutex::default();
    for client in 2..20 {
        let stream = place.connect(client, ASK).await;
        asked.lock().unwrap().push(stream);
        sleep(Duration::from_millis(1)).await;
    }
    let asked = asked.into_inner().unwrap();
    let waits = asked.len() - LIMITS.waits;
    for stream in asked.into_iter().take(waits) {
        let answer = read_rest(stream).await;
        assert!(answer.ends_with("None"), "{answer}");
    }
    assert!(began.elapsed() < Duration::from_secs(1));
}
