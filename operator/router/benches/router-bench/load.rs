//! The load: questions and answers, new connections, and streams, all from one process.

use std::net::SocketAddr;
use std::pin::Pin;
use std::time::{Duration, Instant};

use clap::ValueEnum;
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

/// Operations of a connection.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send {}
impl<S: AsyncRead + AsyncWrite + Send> Stream for S {}

/// A connection, with or without TLS.
pub(crate) type Connection = Pin<Box<dyn Stream>>;

/// Kind of measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Measure {
    /// One question at a time.
    Latency,
    /// 32 questions at a time.
    Requests,
    /// New connections.
    Connections,
    /// One stream, and 16.
    Streams,
}

/// Results of one round.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Figures {
    one: (f64, f64),
    many: (f64, f64),
    requests: f64,
    connections: f64,
    single: f64,
    all: f64,
    cpu: f64,
    request_cpu: f64,
    connection_cpu: f64,
}

type Row = (
    Measure,
    &'static str,
    &'static str,
    bool,
    fn(&Figures) -> f64,
);

/// Measure, name, unit, direction (true if more is better), and figure of each row.
#[rustfmt::skip]
pub(crate) const ROWS: [Row; 11] = [
    (Measure::Latency, "latency, 1 connection, p50", "us", false, |f| f.one.0),
    (Measure::Latency, "latency, 1 connection, p99", "us", false, |f| f.one.1),
    (Measure::Requests, "latency, 32 connections, p50", "us", false, |f| f.many.0),
    (Measure::Requests, "latency, 32 connections, p99", "us", false, |f| f.many.1),
    (Measure::Requests, "requests, 32 connections", "/s", true, |f| f.requests),
    (Measure::Requests, "CPU, a request", "us", false, |f| f.request_cpu),
    (Measure::Connections, "new connections", "/s", true, |f| f.connections),
    (Measure::Connections, "CPU, a new connection", "us", false, |f| f.connection_cpu),
    (Measure::Streams, "1 stream", "MiB/s", true, |f| f.single),
    (Measure::Streams, "16 streams", "MiB/s", true, |f| f.all),
    (Measure::Streams, "CPU, 16 streams", "ms/GiB", false, |f| f.cpu),
];

/// Load generator for one subject.
#[derive(Clone)]
pub(crate) struct Load<'b> {
    bench: &'b Bench,
    subject: Subject,
}

/// Data that a task needs to connect.
#[derive(Clone)]
struct Dialer {
    to: SocketAddr,
    tls: Option<tokio_rustls::TlsConnector>,
}

impl Dialer {
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

    fn dialer(&self, to: SocketAddr) -> Dialer {
        let tls = self.subject.is_tls().then(|| self.bench.connector.clone());
        Dialer { to, tls }
    }

    pub(crate) async fn connect(&self) -> Connection {
        self.dialer(self.bench.echo(self.subject)).connect().await
    }

    pub(crate) async fn measure(&self, time: Duration, what: &[Measure]) -> Figures {
        let seconds = time.as_secs_f64();
        let mut figures = Figures::default();
        for measure in what {
            let before = self.cpu();
            match measure {
                Measure::Latency => figures.one = self.latency(1, time).await.0,
                Measure::Requests => {
                    let (times, answers) = self.latency(MANY, time).await;
                    figures.many = times;
                    figures.requests = answers as f64 / seconds;
                    figures.request_cpu = (self.cpu() - before) * 1e6 / answers as f64;
                }
                Measure::Connections => {
                    let connections = f64::from(self.connections(time).await);
                    figures.connections = connections / seconds;
                    figures.connection_cpu = (self.cpu() - before) * 1e6 / connections;
                }
                Measure::Streams => {
                    figures.single = self.streams(1, time).await.0;
                    (figures.all, figures.cpu) = self.streams(STREAMS, time).await;
                }
            }
        }
        figures
    }

    fn cpu(&self) -> f64 {
        self.bench.cpu(self.subject)
    }

    /// The 50th and the 99th percentile in microseconds, and how many answers there were.
    async fn latency(&self, connections: usize, time: Duration) -> ((f64, f64), usize) {
        let way = self.dialer(self.bench.echo(self.subject));
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
        ((percentile(50), percentile(99)), times.len())
    }

    /// Returns the number of connections that were opened, used for one request and closed.
    async fn connections(&self, time: Duration) -> u32 {
        let way = self.dialer(self.bench.echo(self.subject));
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
        tasks.join_all().await.into_iter().sum()
    }

    /// MiB a second of some streams from the source, and seconds of CPU for a GiB.
    async fn streams(&self, streams: usize, time: Duration) -> (f64, f64) {
        let way = self.dialer(self.bench.source(self.subject));
        let cpu = self.cpu();
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
        let used = (self.cpu() - cpu) * 1e3;
        (mib / took, used / (mib / 1024.0))
    }
}
