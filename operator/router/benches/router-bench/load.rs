//! The load: questions and answers, new connections, and streams, all from one process.

use std::net::SocketAddr;
use std::pin::Pin;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::process::{Bench, Subject};

/// Bytes of a question, and of its answer.
const QUESTION: usize = 128;

/// Connections at once.
const MANY: usize = 32;

/// Streams at once.
const STREAMS: usize = 16;

/// What a connection can do.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send {}
impl<S: AsyncRead + AsyncWrite + Send> Stream for S {}

/// A connection, with or without TLS.
pub(crate) type Connection = Pin<Box<dyn Stream>>;

/// What one round found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Figures {
    one: (f64, f64),
    many: (f64, f64),
    requests: f64,
    connections: f64,
    single: f64,
    all: f64,
    cpu: f64,
}

type Row = (&'static str, &'static str, bool, fn(&Figures) -> f64);

/// Name, unit, whether more is better, and the figure.
pub(crate) const ROWS: [Row; 9] = [
    ("latency, 1 connection, p50", "us", false, |f| f.one.0),
    ("latency, 1 connection, p99", "us", false, |f| f.one.1),
    ("latency, 32 connections, p50", "us", false, |f| f.many.0),
    ("latency, 32 connections, p99", "us", false, |f| f.many.1),
    ("requests, 32 connections", "/s", true, |f| f.requests),
    ("new connections", "/s", true, |f| f.connections),
    ("1 stream", "MiB/s", true, |f| f.single),
    ("16 streams", "MiB/s", true, |f| f.all),
    ("CPU, 16 streams", "s/GiB", false, |f| f.cpu),
];

/// Who loads one subject.
#[derive(Clone)]
pub(crate) struct Load<'b> {
    bench: &'b Bench,
    subject: Subject,
}

/// What a task needs to connect.
#[derive(Clone)]
struct Way {
    to: SocketAddr,
    tls: Option<tokio_rustls::TlsConnector>,
}

impl Way {
    async fn connect(&self) -> Connection {
        let stream = TcpStream::connect(self.to).await.unwrap();
        stream.set_nodelay(true).unwrap();
        match &self.tls {
            None => Box::pin(stream),
            Some(connector) => {
                let name = self.to.ip().into();
                Box::pin(connector.connect(name, stream).await.unwrap())
            }
        }
    }
}

/// One question and its answer.
pub(crate) async fn exchange(stream: &mut Connection, size: usize) {
    let question = vec![7; size];
    let mut answer = vec![0; size];
    stream.write_all(&question).await.unwrap();
    stream.flush().await.unwrap();
    stream.read_exact(&mut answer).await.unwrap();
}

impl<'b> Load<'b> {
    pub(crate) fn new(bench: &'b Bench, subject: Subject) -> Self {
        Self { bench, subject }
    }

    fn way(&self, to: SocketAddr) -> Way {
        let tls = self.subject.is_tls().then(|| self.bench.connector.clone());
        Way { to, tls }
    }

    pub(crate) async fn connect(&self) -> Connection {
        self.way(self.bench.echo(self.subject)).connect().await
    }

    pub(crate) async fn measure(&self, time: Duration) -> Figures {
        let (one, _) = self.latency(1, time).await;
        let (many, requests) = self.latency(MANY, time).await;
        let connections = self.connections(time).await;
        let (single, _) = self.streams(1, time).await;
        let (all, cpu) = self.streams(STREAMS, time).await;
        Figures {
            one,
            many,
            requests,
            connections,
            single,
            all,
            cpu,
        }
    }

    /// The 50th and the 99th percentile in microseconds, and answers a second.
    async fn latency(&self, connections: usize, time: Duration) -> ((f64, f64), f64) {
        let way = self.way(self.bench.echo(self.subject));
        let mut tasks = JoinSet::new();
        for _ in 0..connections {
            let mut stream = way.connect().await;
            tasks.spawn(async move {
                let mut times = Vec::new();
                let began = Instant::now();
                while began.elapsed() < time {
                    let asked = Instant::now();
                    exchange(&mut stream, QUESTION).await;
                    times.push(asked.elapsed());
                }
                times
            });
        }
        let mut times: Vec<Duration> = tasks.join_all().await.into_iter().flatten().collect();
        times.sort();
        let percentile = |percent: usize| times[times.len() * percent / 100].as_secs_f64() * 1e6;
        let rate = times.len() as f64 / time.as_secs_f64();
        ((percentile(50), percentile(99)), rate)
    }

    /// Connections a second: opened, asked one question, closed.
    async fn connections(&self, time: Duration) -> f64 {
        let way = self.way(self.bench.echo(self.subject));
        let mut tasks = JoinSet::new();
        for _ in 0..STREAMS {
            let way = way.clone();
            tasks.spawn(async move {
                let began = Instant::now();
                let mut count = 0;
                while began.elapsed() < time {
                    let mut stream = way.connect().await;
                    exchange(&mut stream, QUESTION).await;
                    stream.shutdown().await.ok();
                    count += 1;
                }
                count
            });
        }
        let counts: u32 = tasks.join_all().await.into_iter().sum();
        f64::from(counts) / time.as_secs_f64()
    }

    /// MiB a second of some streams from the source, and seconds of CPU for a GiB.
    async fn streams(&self, streams: usize, time: Duration) -> (f64, f64) {
        let way = self.way(self.bench.source(self.subject));
        let cpu = self.bench.cpu(self.subject);
        let began = Instant::now();
        let mut tasks = JoinSet::new();
        for _ in 0..streams {
            let way = way.clone();
            tasks.spawn(async move {
                let mut stream = way.connect().await;
                let mut bytes = vec![0; 256 * 1024];
                let mut count = 0;
                while began.elapsed() < time {
                    count += stream.read(&mut bytes).await.unwrap();
                }
                count
            });
        }
        let bytes: usize = tasks.join_all().await.into_iter().sum();
        let mib = bytes as f64 / f64::from(1 << 20);
        let took = began.elapsed().as_secs_f64();
        let used = self.bench.cpu(self.subject) - cpu;
        (mib / took, used / (mib / 1024.0))
    }
}
