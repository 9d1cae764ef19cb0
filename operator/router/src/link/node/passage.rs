//! Path of a stream to its server: hop by hop, and each hop answers only after the next one did.

use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::{Inner, Node, Server};
use crate::link::announcement::{Key, Role, SiteId};
use crate::link::frame::record::{Refusal, Request};
use crate::link::stream::LinkStream;
use crate::relay::{Patience, Traffic, relay};

/// The most links that a stream goes over.
const TTL: u8 = 64;
/// How long the whole way may take to be opened.
const OPENING: Duration = Duration::from_secs(30);
/// Time that a stream may exist without a request.
const ASKING: Duration = Duration::from_secs(5);

impl Node {
    /// Opens a stream to a server of a key at another site. It is open once that server was connected to.
    ///
    /// # Errors
    /// It did not get there.
    pub async fn open(&self, key: &Key, site: &SiteId) -> Result<LinkStream, Refusal> {
        let request = Request {
            key: key.clone(),
            site: site.clone(),
            ttl: TTL,
        };
        self.0.pass(request, None).await
    }
}

impl Inner {
    /// Opens the next hop of a stream that came from a neighbour, or begins here.
    async fn pass(&self, request: Request, from: Option<&SiteId>) -> Result<LinkStream, Refusal> {
        let next = self.next(&request.key, &request.site, from)?;
        let (answer, answered) = oneshot::channel();
        let opening = async {
            // A link that has just ended was a way a moment ago.
            let asked = next.send((request, answer)).await;
            asked.map_err(|_| Refusal::NoRoute)?;
            let stream = answered.await.map_err(|_| Refusal::NoRoute)??;
            stream.wait_for_answer().await?;
            Ok(stream)
        };
        timeout(OPENING, opening)
            .await
            .unwrap_or(Err(Refusal::Backend))
    }

    fn next(
        &self,
        key: &Key,
        site: &SiteId,
        from: Option<&SiteId>,
    ) -> Result<tokio::sync::mpsc::Sender<crate::link::mux::Open>, Refusal> {
        let state = self.state();
        if from.is_some() && self.role == Role::Edge {
            return Err(Refusal::NoRoute);
        }
        let route = state.network.routes().sites.get(site);
        let next = &route.ok_or(Refusal::NoRoute)?.next;
        if Some(next) == from {
            return Err(Refusal::Loop);
        }
        let link = state.links.get(next).filter(|link| link.allows(key));
        Ok(link.ok_or(Refusal::NoRoute)?.new.ask.clone())
    }

    /// Returns true if a neighbour may request a key over its link.
    fn allows(&self, from: &SiteId, key: &Key) -> bool {
        let state = self.state();
        state.links.get(from).is_some_and(|link| link.allows(key))
    }

    fn refuse(&self, stream: &LinkStream, refusal: Refusal) {
        self.refusals.count(refusal);
        stream.answer(Err(refusal));
    }

    async fn connect(&self, key: &Key) -> Result<Server, Refusal> {
        if !self.state().network.has_key(key) {
            return Err(Refusal::NoRoute);
        }
        let connected = timeout(OPENING, self.local.connect(key)).await;
        match connected {
            Ok(Ok(server)) => Ok(server),
            Ok(Err(error)) => {
                tracing::debug!(%key, %error, "a server did not answer");
                Err(Refusal::Backend)
            }
            Err(_) => Err(Refusal::Backend),
        }
    }
}

/// Serves a stream that a neighbour opened, until it ends.
pub(super) async fn serve(node: Node, from: SiteId, mut stream: LinkStream) {
    let Ok(Some(request)) = timeout(ASKING, stream.request()).await else {
        return;
    };
    if !node.0.allows(&from, &request.key) {
        return node.0.refuse(&stream, Refusal::NoRoute);
    }
    let traffic = Traffic::default();
    let patience = Patience::default();
    let served = if request.site == node.0.site {
        match open(&stream, node.0.connect(&request.key)).await {
            None => return,
            Some(Ok(mut server)) => {
                let relayed = relay(&mut stream, &mut server, &traffic, patience, || {}).await;
                if relayed.is_ok() {
                    server.settle();
                }
                relayed
            }
            Some(Err(refusal)) => return node.0.refuse(&stream, refusal),
        }
    } else {
        let Some(ttl) = request.ttl.checked_sub(1) else {
            return node.0.refuse(&stream, Refusal::Loop);
        };
        let request = Request { ttl, ..request };
        match open(&stream, node.0.pass(request, Some(&from))).await {
            None => return,
            Some(Ok(mut next)) => relay(&mut stream, &mut next, &traffic, patience, || {}).await,
            Some(Err(refusal)) => return node.0.refuse(&stream, refusal),
        }
    };
    if let Err(error) = served {
        tracing::debug!(%from, %error, "a stream over a link was aborted");
    }
}

/// Opens the next hop of a stream, and answers that the stream is open. Returns `None` if the
/// stream is aborted before.
async fn open<S>(
    stream: &LinkStream,
    opening: impl Future<Output = Result<S, Refusal>>,
) -> Option<Result<S, Refusal>> {
    let opened = tokio::select! {
        opened = opening => opened,
        () = stream.aborted() => return None,
    };
    if opened.is_ok() {
        stream.answer(Ok(()));
    }
    Some(opened)
}
