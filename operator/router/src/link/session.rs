//! One link: the identity of the other end, its liveness, and the messages between the two routers.
//! A peer that breaks a rule is cut off, and the link is reported with the reason.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::stream::{FuturesUnordered, StreamExt as _};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use super::announcement::{Key, MAX_COST, SiteId};
use super::bucket::Bucket;
use super::cost::Cost;
use super::ended::{Ended, Wrong};
use super::frame::control::{self, Frame, Hello};
use super::hello::{self, Refused};
use super::line::Heard;
use super::mux::{self, Mux};
use super::network::Violation;
use super::node::counts::LinkCounts;
use super::node::{Costs, NewLink, Node, Registered};
use super::stream::LinkStream;

pub use super::mux::Side;

/// Interval of the signs of life that a router sends.
pub const ALIVE: Duration = Duration::from_secs(1);
/// After this long without a byte a link is dead.
pub const DEAD: Duration = Duration::from_millis(2500);
/// Time that the two routers may take to identify themselves.
pub const HELLO: Duration = Duration::from_secs(5);
/// Time that a sent message may wait for being read.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time that a link may take to send its reason for ending, and to close.
const FAREWELL: Duration = Duration::from_millis(250);
/// Frames that may come at once, and in each second after that.
const FRAMES: Bucket = Bucket::new(16_384, 4096);

/// Terms for the other end that are known before it sends anything.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// Minimum cost of the link.
    pub cost: Cost,
    /// Keys that streams over the link may have, in either direction; absent for all.
    pub allowed: Option<Arc<BTreeSet<Key>>>,
    /// The site that the certificate of the other end names; without it any is believed.
    pub identity: Option<SiteId>,
    /// Channel that reports the state of the link.
    pub report: Option<watch::Sender<LinkState>>,
    /// Cell that records the site at the other end, as soon as that is certain.
    pub peer: Arc<OnceLock<SiteId>>,
    /// Token that ends the link and notifies the other end.
    pub stop: CancellationToken,
}

/// How a link is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// It is being made for the first time.
    Connecting,
    /// It is in use, to this site.
    Up(SiteId),
    /// Not needed: another link to this site exists.
    Beside(SiteId),
    /// It is not there, for this reason.
    Down(String),
}

impl Node {
    /// Runs a link over a connection until it ends, and returns the reason.
    pub async fn link<T>(&self, io: T, side: Side, terms: &Terms) -> Ended
    where
        T: AsyncRead + AsyncWrite + Unpin + Send,
    {
        run(self, io, side, terms).await
    }

    fn hello(&self, cost: u32) -> Hello {
        let (instance, role) = self.identity();
        Hello {
            versions: hello::VERSIONS,
            site: self.site().clone(),
            instance,
            role,
            cost,
        }
    }
}

async fn run<T>(node: &Node, io: T, side: Side, terms: &Terms) -> Ended
where
    T: AsyncRead + AsyncWrite + Unpin + Send,
{
    let (ask, asked) = mpsc::channel(64);
    let (let_in, incoming) = mpsc::unbounded_channel();
    let mut mux = Mux::new(io, side, asked, let_in);
    let control = match timeout(HELLO, mux.control()).await {
        Err(_) => return Ended::Refused(Refused::Late),
        Ok(Err(error)) => return error.into(),
        Ok(Ok(control)) => control,
    };
    let (reader, writer) = tokio::io::split(control);
    let mut talk = Talk {
        node,
        side,
        terms,
        reader,
        writer: Writer {
            io: writer,
            rest: Vec::new(),
        },
        heard: mux.heard(),
        counts: mux.counts(),
    };
    let ended = {
        // With a waker of its own, so that streams that move do not make the routers talk.
        let mut talking: FuturesUnordered<_> = [talk.talk(ask, incoming)].into_iter().collect();
        tokio::select! {
            Some(ended) = talking.next() => ended,
            error = mux.run() => {
                // An earlier message may not have been read yet, possibly the reason for closing.
                let may_have_said = matches!(error, mux::Error::Closed | mux::Error::Io(_));
                if may_have_said
                    && let Ok(Some(said)) = timeout(FAREWELL, talking.next()).await
                    && matches!(said, Ended::Goodbye(_))
                {
                    said
                } else {
                    error.into()
                }
            }
        }
    };
    if let Some(reason) = ended.farewell() {
        mux.leave();
        let farewell = async {
            let goodbye = Frame::Goodbye(reason);
            if talk.writer.send_frame(&goodbye).await.is_ok() {
                // Until the other side closes the connection: closed from here it might be gone before that was heard.
                std::future::pending().await
            }
        };
        tokio::select! {
            _ = timeout(FAREWELL, farewell) => {}
            _ = mux.run() => {}
        }
    }
    if timeout(FAREWELL, mux.close()).await.is_err() {
        tracing::debug!("a link was not closed in time");
    }
    ended
}

/// Writes frames. Stopped within one it goes on where it was.
struct Writer<W> {
    io: W,
    rest: Vec<u8>,
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    async fn send_frame(&mut self, frame: &Frame) -> io::Result<()> {
        self.rest.extend(frame.encode());
        while !self.rest.is_empty() {
            let written = self.io.write(&self.rest).await?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.rest.drain(..written);
        }
        self.io.flush().await
    }
}

/// Reads frames.
async fn read(reader: &mut (impl AsyncRead + Unpin)) -> Result<Frame, Ended> {
    let mut prefix = [0; 4];
    reader.read_exact(&mut prefix).await?;
    let length = control::length(prefix)?;
    let mut body = Vec::new();
    // This takes no more memory than the bytes that have arrived.
    let read = reader.take(length as u64).read_to_end(&mut body).await?;
    if read < length {
        return Err(Ended::Closed);
    }
    Ok(Frame::decode(&body)?)
}

struct Talk<'l, R, W> {
    node: &'l Node,
    side: Side,
    terms: &'l Terms,
    reader: R,
    writer: Writer<W>,
    heard: Heard,
    counts: Arc<LinkCounts>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Talk<'_, R, W> {
    async fn talk(
        &mut self,
        ask: mpsc::Sender<mux::Open>,
        incoming: mpsc::UnboundedReceiver<LinkStream>,
    ) -> Ended {
        let greeted = timeout(HELLO, self.greet()).await;
        let (peer, costs, first) = match greeted {
            Err(_) => return Ended::Refused(Refused::Late),
            Ok(Err(ended)) => return ended,
            Ok(Ok(peer)) => peer,
        };
        let link = NewLink {
            side: self.side,
            is_named: self.side == Side::Dial || self.terms.identity.is_some(),
            ask,
            costs,
            allowed: self.terms.allowed.clone(),
            counts: self.counts.clone(),
        };
        let registered = self.node.register(&peer, link);
        let (registered, mut cut) = match registered {
            Ok(registered) => registered,
            Err(refused) => return self.refuse(refused).await,
        };
        if let Some(report) = &self.terms.report {
            report.send_replace(LinkState::Up(peer.site));
        }
        let wake = registered.wake().clone();
        tokio::select! {
            biased;
            Some(ended) = cut.recv() => ended,
            ended = listen(&mut self.reader, &registered, first) => ended,
            ended = speak(&mut self.writer, &registered, &wake, (costs.ours, self.terms.cost.clone())) => ended,
            () = self.terms.stop.cancelled() => Ended::Stopped,
            () = self.heard.silent_for(DEAD) => Ended::Silent,
            ended = serve(incoming, &registered) => ended,
        }
    }

    /// Refuses the link and returns the reason. If the link is merely not needed, the other router
    /// may refuse it as well, for a reason of its own.
    async fn refuse(&mut self, refused: Refused) -> Ended {
        if matches!(refused, Refused::Linked(_))
            && let Ok(Ok(Frame::Goodbye(said))) = timeout(FAREWELL, read(&mut self.reader)).await
        {
            return Ended::Goodbye(said);
        }
        Ended::Refused(refused)
    }

    /// Exchanges identities and link costs with the other router, and makes sure that it hears this
    /// router. A router that was dialled has answered, so for it that is certain. A router that
    /// dials sends another frame as soon as it is answered, and that frame is returned.
    async fn greet(&mut self) -> Result<(Hello, Costs, Option<Frame>), Ended> {
        let ours = self.node.hello(self.terms.cost.now());
        self.writer.send_frame(&Frame::Hello(ours.clone())).await?;
        let theirs = match read(&mut self.reader).await? {
            Frame::Hello(theirs) => theirs,
            Frame::Goodbye(reason) => return Err(Ended::Goodbye(reason)),
            Frame::Alive | Frame::Announce(_) | Frame::Acknowledge(..) | Frame::Cost(_) => {
                return Err(Ended::Refused(Refused::NoHello));
            }
        };
        let agreed = hello::agree(&ours, &theirs, self.terms.identity.as_ref());
        agreed.map_err(Ended::Refused)?;
        // A site that was already recorded is equal to this one.
        let _noted = self.terms.peer.set(theirs.site.clone());
        let costs = Costs {
            ours: ours.cost,
            theirs: theirs.cost,
        };
        let first = match self.side {
            Side::Dial => None,
            Side::Accept => Some(read(&mut self.reader).await?),
        };
        match first {
            Some(Frame::Goodbye(reason)) => Err(Ended::Goodbye(reason)),
            first => Ok((theirs, costs, first)),
        }
    }
}

/// Processes the frames of the other router. The first one may have been read already.
async fn listen(
    reader: &mut (impl AsyncRead + Unpin),
    peer: &Registered,
    mut first: Option<Frame>,
) -> Ended {
    let (mut rate, began) = (FRAMES, Instant::now());
    loop {
        let frame = match first.take() {
            Some(frame) => frame,
            None => match read(reader).await {
                Ok(frame) => frame,
                Err(ended) => return ended,
            },
        };
        if !rate.take(began.elapsed()) {
            return Ended::CutOff(Wrong::Network(Violation::Flood));
        }
        let heard = match frame {
            Frame::Alive => Ok(()),
            Frame::Announce(announcement) => peer.announced(announcement),
            Frame::Acknowledge(origin, version) => {
                peer.acknowledged(&origin, version);
                Ok(())
            }
            Frame::Cost(cost) if (1..=MAX_COST).contains(&cost) => {
                peer.costs(|costs| costs.theirs = cost);
                Ok(())
            }
            Frame::Cost(cost) => return Ended::CutOff(Wrong::Cost(cost)),
            Frame::Goodbye(reason) => return Ended::Goodbye(reason),
            Frame::Hello(_) => return Ended::CutOff(Wrong::Greeting),
        };
        if let Err(violation) = heard {
            return Ended::CutOff(Wrong::Network(violation));
        }
    }
}

/// Sends the other router the announcements that it lacks, and signs of life.
async fn speak<W: AsyncWrite + Unpin>(
    writer: &mut Writer<W>,
    peer: &Registered,
    wake: &Arc<Notify>,
    (mut said, mut cost): (u32, Cost),
) -> Ended {
    let mut alive = interval(ALIVE);
    alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let mut frames = peer.messages();
        if frames.is_empty() {
            tokio::select! {
                () = wake.notified() => continue,
                now = cost.other_than(said) => {
                    said = now;
                    peer.costs(|costs| costs.ours = now);
                    frames.push(Frame::Cost(now));
                }
                _ = alive.tick() => frames.push(Frame::Alive),
            }
        }
        for frame in frames {
            match timeout(PATIENCE, writer.send_frame(&frame)).await {
                Err(_) => return Ended::CutOff(Wrong::Deaf),
                Ok(Err(error)) => return error.into(),
                Ok(Ok(())) => peer.count_frame(&frame),
            }
        }
    }
}

/// Takes the streams that the other router opens.
async fn serve(mut incoming: mpsc::UnboundedReceiver<LinkStream>, peer: &Registered) -> Ended {
    while let Some(stream) = incoming.recv().await {
        peer.serve(stream);
    }
    Ended::Closed
}
