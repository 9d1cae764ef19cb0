//! Collects the records of the whole network from the router, and announces the own site there. It
//! uses one connection, and one task for each address. Every failure is logged and retried. The
//! collector and the loop of the adaptor never wait for each other.

mod links;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use super::amqp;
use super::network::{Detail, Limits, Network};
use super::plane::Adaptor;
use super::publish::{MAX_DOCUMENT, NetworkStatus, publish};
use super::vanflow::{Beacon, Incoming, Kind, Record, Text};
use crate::recurring::Recurring;
use links::{Event, Links};

/// How often silent sources are looked for, and the document is written at most.
const TICK: Duration = Duration::from_secs(1);

/// The pause after the first failure of a connection, and the longest.
const PAUSE: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(30));

/// The platform of a site of this project, as records have it.
const PLATFORM: &str = "kubernetes";

/// The settings of the collection.
#[derive(Clone, Debug)]
pub struct CollectOptions {
    /// The router.
    pub agent: amqp::Options,
    /// The site that is announced; without one, others are only listened to.
    pub site: Option<OwnSite>,
}

/// The own site in the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnSite {
    /// The uid of its Site.
    pub id: String,
    /// The name of its Site.
    pub name: String,
    /// The namespace of its Site.
    pub namespace: String,
}

/// An announcement with its record.
#[derive(Clone, Debug)]
struct Announcement {
    beacon: Beacon,
    record: Record,
}

impl Announcement {
    fn new(site: &OwnSite) -> Self {
        let mut record = Record::new(Kind::Site, &site.id)
            .with_text(Text::Name, &site.name)
            .with_text(Text::Namespace, &site.namespace)
            .with_text(Text::Platform, PLATFORM)
            .with_text(Text::Provider, PLATFORM)
            .with_text(Text::Version, env!("CARGO_PKG_VERSION"));
        record.start = Some(links::micros());
        Self {
            beacon: Beacon::of_site(&site.id),
            record,
        }
    }
}

impl Adaptor {
    /// Keeps a network status up to date and announces the own site. Never returns.
    pub async fn collect(
        &self,
        options: CollectOptions,
        status: Arc<dyn NetworkStatus>,
    ) -> Infallible {
        let (leads, is_leader) = watch::channel(false);
        let (newest, documents) = watch::channel(None);
        let own = options.site.as_ref().map(Announcement::new);
        let record = own.as_ref().map(|own| own.record.clone());
        let collector = Collector {
            adaptor: self.clone(),
            network: Network::new(record, Limits::default()),
            options,
            own,
            newest,
            is_leader: is_leader.clone(),
            is_changed: true,
            detail: Detail::Full,
        };
        let publishing = publish(&*status, documents, is_leader);
        tokio::join!(collector.run(), publishing, status.elect(leads)).0
    }
}

/// The collection.
struct Collector {
    adaptor: Adaptor,
    options: CollectOptions,
    network: Network,
    own: Option<Announcement>,
    newest: watch::Sender<Option<Arc<String>>>,
    is_leader: watch::Receiver<bool>,
    /// True if records have come or gone since the last document.
    is_changed: bool,
    /// The detail of the last document.
    detail: Detail,
}

impl Collector {
    async fn run(mut self) -> Infallible {
        let mut trouble = Recurring::default();
        let mut pause = PAUSE.0;
        loop {
            let began = Instant::now();
            let Err(why) = self.connected().await;
            let why = why.to_string();
            if trouble.failed(&why) {
                let why = crate::plain::plain(&why);
                tracing::warn!(
                    "the records of the network cannot be collected from the router: {why}"
                );
            }
            if began.elapsed() > PAUSE.1 {
                pause = PAUSE.0;
            }
            let until = Instant::now() + pause;
            while Instant::now() < until {
                sleep(TICK.min(until - Instant::now())).await;
                self.tick(None);
            }
            pause = (pause * 2).min(PAUSE.1);
        }
    }

    /// Collects until the connection is lost.
    async fn connected(&mut self) -> Result<Infallible, links::Cause> {
        let (events, mut incoming) = mpsc::channel(16);
        let mut links = Links::connect(&self.options.agent, events).await?;
        links.beacons().await?;
        if let Some(own) = &self.own {
            links.announce(own, self.is_leader.clone()).await?;
        }
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                event = incoming.recv() => match event {
                    Some(Event::Message(source, message)) => {
                        self.message(&mut links, source.as_deref(), message).await?;
                    }
                    Some(Event::Lost(why)) => return Err(why),
                    // `links` has a sender.
                    None => return Err("no link is left".into()),
                },
                _ = ticks.tick() => self.tick(Some(&mut links)),
            }
        }
    }

    /// Takes over a message: from the address of beacons, or of a source.
    async fn message(
        &mut self,
        links: &mut Links,
        source: Option<&str>,
        message: Incoming,
    ) -> Result<(), links::Cause> {
        let now = Instant::now();
        let gone = match (message, source) {
            (Incoming::Beacon(beacon), None) => {
                if self.network.own() == Some(beacon.id.as_str()) || links.has(&beacon.id) {
                    return Ok(());
                }
                tracing::debug!(source = beacon.id, "a source of records was discovered");
                let gone = self.network.discover(&beacon.id, now);
                links.listen(&beacon).await?;
                gone
            }
            (Incoming::Heartbeat, Some(source)) => {
                self.network.hear(source, now);
                return Ok(());
            }
            (Incoming::Records(records, unreadable), Some(source)) => {
                if unreadable > 0 {
                    tracing::debug!(source, unreadable, "records cannot be read");
                }
                self.is_changed = true;
                self.network.take(source, records, now)
            }
            (Incoming::Beacon(_), Some(_))
            | (Incoming::Heartbeat | Incoming::Records(..), None)
            | (Incoming::Flush, _) => return Ok(()),
        };
        self.forget(&gone, Some(links));
        Ok(())
    }

    /// Stops listening to sources that are gone.
    fn forget(&mut self, gone: &[String], links: Option<&mut Links>) {
        for source in gone {
            tracing::debug!(source, "a source of records is gone");
            self.is_changed = true;
        }
        if let Some(links) = links {
            gone.iter().for_each(|source| links.forget(source));
        }
    }

    /// Forgets sources that are gone, and hands over the document if it has changed.
    fn tick(&mut self, links: Option<&mut Links>) {
        let gone = self.network.expire(Instant::now());
        self.forget(&gone, links);
        if !std::mem::take(&mut self.is_changed) {
            return;
        }
        self.adaptor.set_network(self.network.overview());
        let Some((text, detail)) = self.network.text(MAX_DOCUMENT) else {
            tracing::warn!(
                "the network status stays as it is, for it would have more than {MAX_DOCUMENT} bytes even without the entries of other sites"
            );
            return;
        };
        if detail > self.detail {
            let written = detail.text();
            tracing::warn!(
                "the network status would have more than {MAX_DOCUMENT} bytes: it is written with {written}; see docs/router.md"
            );
        }
        self.detail = detail;
        let text = Arc::new(text);
        self.newest.send_if_modified(|newest| {
            let differs = newest.as_ref() != Some(&text);
            *newest = Some(text);
            differs
        });
    }
}
