//! The connection to the router with its links: a receiver for each address, and senders. A sender
//! without credit does not delay the others. A multicast address accepts no message while it has no
//! receiver, so every message has a time limit.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fe2o3_amqp::connection::ConnectionHandle;
use fe2o3_amqp::link::RecvError;
use fe2o3_amqp::session::SessionHandle;
use fe2o3_amqp::types::messaging::{Body, Outcome};
use fe2o3_amqp::types::primitives::Value as Amqp;
use fe2o3_amqp::{Receiver, Sender, Session};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::Announcement;
use crate::adaptor::amqp::{Options, handshake};
use crate::adaptor::symbols::Symbols;
use crate::adaptor::vanflow::{
    BEACONS, Beacon, Incoming, Raw, decode, encode_beacon, encode_flush, encode_heartbeat,
    encode_records,
};

/// Any error of the protocol below.
pub(super) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// The largest message that is read, in bytes.
const MAX_MESSAGE: u64 = 4 << 20;

/// How often a site announces itself, and gives a sign of life.
const BEACON: Duration = Duration::from_secs(10);
const HEARTBEAT: Duration = Duration::from_secs(2);

/// How long the router has to take a message.
const SENDING: Duration = Duration::from_secs(2);

/// How long requests for all records are collected before they are answered together.
const FLUSHES: Duration = Duration::from_millis(100);

/// Time that a source has to send something before its records are requested anyway.
const FIRST: Duration = Duration::from_secs(5);

/// News of a link.
#[derive(Debug)]
pub(super) enum Event {
    /// A message of a source, or one to all.
    Message(Option<String>, Incoming),
    /// A link ended, so the connection is of no use.
    Lost(Cause),
}

/// A connection and its links.
pub(super) struct Links {
    session: SessionHandle<()>,
    /// Keeps the connection open.
    _connection: ConnectionHandle<()>,
    events: mpsc::Sender<Event>,
    limit: Duration,
    /// The tasks of each source; they end when they are dropped.
    sources: BTreeMap<String, JoinSet<()>>,
    /// The other tasks.
    tasks: JoinSet<()>,
}

impl Links {
    pub(super) async fn connect(
        options: &Options,
        events: mpsc::Sender<Event>,
    ) -> Result<Self, Cause> {
        let options = Options {
            container: format!("{}-collector", options.container),
            ..options.clone()
        };
        let open = async {
            let at = (options.host.as_str(), options.port);
            let stream = tokio::net::TcpStream::connect(at).await?;
            stream.set_nodelay(true)?;
            let mut connection = handshake(&options, Symbols::new(stream)).await?;
            let session = Session::begin(&mut connection).await?;
            Ok::<_, Cause>((connection, session))
        };
        let (connection, session) = timeout(options.limit, open).await??;
        Ok(Self {
            session,
            _connection: connection,
            events,
            limit: options.limit,
            sources: BTreeMap::new(),
            tasks: JoinSet::new(),
        })
    }

    /// True if a source is listened to.
    pub(super) fn has(&self, source: &str) -> bool {
        self.sources.contains_key(source)
    }

    pub(super) fn forget(&mut self, source: &str) {
        self.sources.remove(source);
    }

    /// Listens to the beacons of all sources.
    pub(super) async fn beacons(&mut self) -> Result<(), Cause> {
        let receiver = self.receiver(BEACONS).await?;
        let events = self.events.clone();
        self.tasks
            .spawn(receive(receiver, None, events, Arc::default()));
        Ok(())
    }

    /// Listens to a source, and requests its records.
    pub(super) async fn listen(&mut self, beacon: &Beacon) -> Result<(), Cause> {
        let mut tasks = JoinSet::new();
        let first = Arc::new(Notify::new());
        let addresses = [Some(beacon.address.clone()), beacon.heartbeats()];
        for address in addresses.into_iter().flatten() {
            let receiver = self.receiver(&address).await?;
            let (id, events) = (Some(beacon.id.clone()), self.events.clone());
            tasks.spawn(receive(receiver, id, events, first.clone()));
        }
        let sender = self.sender(&beacon.direct).await?;
        tasks.spawn(request(sender, encode_flush(&beacon.direct), first));
        self.sources.insert(beacon.id.clone(), tasks);
        Ok(())
    }

    /// Announces a site while this process is the leader, and answers requests for its record.
    pub(super) async fn announce(
        &mut self,
        own: &Announcement,
        is_leader: watch::Receiver<bool>,
    ) -> Result<(), Cause> {
        let beacons = self.sender(BEACONS).await?;
        let beacon = own.beacon.clone();
        let next = move || encode_beacon(&beacon);
        self.tasks
            .spawn(repeat(beacons, BEACON, is_leader.clone(), next));
        let beacon = own.beacon.clone();
        let heartbeats = beacon
            .heartbeats()
            .unwrap_or_else(|| beacon.address.clone());
        let heartbeats = self.sender(&heartbeats).await?;
        let next = move || encode_heartbeat(&beacon, micros());
        self.tasks
            .spawn(repeat(heartbeats, HEARTBEAT, is_leader.clone(), next));
        let records = self.sender(&own.beacon.address).await?;
        let commands = self.receiver(&own.beacon.direct).await?;
        let message = {
            let own = own.clone();
            move || encode_records(&own.beacon.address, std::slice::from_ref(&own.record))
        };
        let events = self.events.clone();
        self.tasks
            .spawn(answer(commands, records, events, is_leader, message));
        Ok(())
    }

    async fn receiver(&mut self, address: &str) -> Result<Receiver, Cause> {
        let attach = Receiver::builder()
            .name(format!("receive {address}"))
            .source(address)
            .max_message_size(MAX_MESSAGE)
            .auto_accept(true)
            .attach(&mut self.session);
        Ok(timeout(self.limit, attach).await??)
    }

    async fn sender(&mut self, address: &str) -> Result<Sender, Cause> {
        let name = format!("send {address}");
        let attach = Sender::attach(&mut self.session, name, address);
        Ok(timeout(self.limit, attach).await??)
    }
}

/// The next message of a receiver; none for one that cannot be read.
async fn next(receiver: &mut Receiver) -> Result<Option<Incoming>, Cause> {
    match receiver.recv::<Body<Amqp>>().await {
        Ok(delivery) => match decode(delivery.into_message()) {
            Ok(message) => Ok(Some(message)),
            Err(error) => {
                tracing::debug!(%error, "a message of VanFlow is ignored");
                Ok(None)
            }
        },
        Err(RecvError::MessageDecode(undecodable)) => {
            let error = undecodable.source.to_string();
            tracing::debug!(error, "a message of VanFlow cannot be decoded");
            receiver.reject(undecodable.info, None).await?;
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Forwards messages until the link ends.
async fn receive(
    mut receiver: Receiver,
    source: Option<String>,
    events: mpsc::Sender<Event>,
    first: Arc<Notify>,
) {
    loop {
        let event = match next(&mut receiver).await {
            Ok(Some(message)) => Event::Message(source.clone(), message),
            Ok(None) => continue,
            Err(cause) => Event::Lost(cause),
        };
        first.notify_one();
        let is_lost = matches!(event, Event::Lost(_));
        if events.send(event).await.is_err() || is_lost {
            return;
        }
    }
}

/// Requests all records of a source, once it has sent something, until the request is taken.
async fn request(mut sender: Sender, flush: Raw, first: Arc<Notify>) {
    // Its address may not be known everywhere before.
    let _late = timeout(FIRST, first.notified()).await;
    while !send(&mut sender, flush.clone()).await {
        sleep(SENDING).await;
    }
    // A link that ends would end the request with it.
    std::future::pending::<()>().await;
}

/// Sends a message again and again.
async fn repeat(
    mut sender: Sender,
    every: Duration,
    is_leader: watch::Receiver<bool>,
    message: impl Fn() -> Raw,
) {
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_leader = is_leader;
    loop {
        if is_leader.wait_for(|leads| *leads).await.is_err() {
            return;
        }
        ticks.tick().await;
        // Without credit, the address has no receiver.
        send(&mut sender, message()).await;
    }
}

/// Sends the record of the site to each source that requests it.
async fn answer(
    mut commands: Receiver,
    mut records: Sender,
    events: mpsc::Sender<Event>,
    is_leader: watch::Receiver<bool>,
    message: impl Fn() -> Raw,
) {
    let requested = Arc::new(Notify::new());
    let listening = async {
        loop {
            match next(&mut commands).await {
                // Every message to this address is a request.
                Ok(_) => requested.notify_one(),
                Err(cause) => {
                    // Without a receiver, the connection is gone already.
                    let _unheard = events.send(Event::Lost(cause)).await;
                    return;
                }
            }
        }
    };
    let answering = async {
        loop {
            requested.notified().await;
            sleep(FLUSHES).await;
            if *is_leader.borrow() {
                send(&mut records, message()).await;
            }
        }
    };
    tokio::select! {
        () = listening => {}
        () = answering => {}
    }
}

/// Sends a message; true if it was accepted in time.
async fn send(sender: &mut Sender, message: Raw) -> bool {
    match timeout(SENDING, sender.send(message)).await {
        Ok(Ok(Outcome::Accepted(_))) => true,
        Ok(Ok(Outcome::Rejected(_) | Outcome::Released(_) | Outcome::Modified(_))) => false,
        Ok(Err(error)) => {
            tracing::debug!(%error, "a message of VanFlow cannot be sent");
            // A link that has ended fails at once.
            sleep(SENDING).await;
            false
        }
        Err(_) => false,
    }
}

/// The time in microseconds since 1970.
pub(super) fn micros() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_micros()).unwrap_or(u64::MAX))
}
