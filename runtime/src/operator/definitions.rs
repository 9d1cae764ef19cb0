//! The kinds of an operator: served before it begins, and of several replicas written by the one that leads, before that writes anything else.

use std::future::pending;
use std::time::Duration;

use futures::future::BoxFuture;
use kube::Client;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use crate::crds::{self, Kinds};
use crate::health::Health;
use crate::lease::Until;

/// The part of a process that waits for them.
const PART: &str = "definitions";
/// Interval at which a replica that does not lead checks that the kinds are served.
const PAUSE: Duration = Duration::from_secs(2);

/// The kinds of each group that the operator has.
#[derive(Default)]
pub(super) struct Definitions(Vec<Group>);

struct Group {
    kinds: Kinds,
    maintain: bool,
    /// True while this process still has to compare the definitions and write the differences.
    is_due: bool,
}

impl Definitions {
    pub(super) fn add(&mut self, kinds: Kinds, maintain: bool) {
        self.0.push(Group {
            kinds,
            maintain,
            is_due: maintain,
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if this process still has to write the differences once it leads.
    pub(super) fn are_due(&self) -> bool {
        self.0.iter().any(|group| group.is_due)
    }

    /// Returns once all kinds are served.
    ///
    /// # Flow
    /// With a Lease, definitions are written while this process holds it. A replica that does not uses those that are served, and writes its own once it
    /// leads, by `relay`.
    pub(super) async fn served(
        &mut self,
        client: &Client,
        health: &Health,
        mut lease: Option<watch::Receiver<Until>>,
    ) {
        if let Some(until) = &mut lease
            && until.changed().await.is_err()
        {
            return pending().await;
        }
        for group in &mut self.0 {
            let served = group.kinds.group_version;
            health.waits(PART, format!("the kinds of {served} are not served yet"));
            match &mut lease {
                Some(until) if group.maintain => group.served(client, until).await,
                Some(_) | None => {
                    crds::prepare(client, &group.kinds, group.maintain).await;
                    group.is_due = false;
                }
            }
        }
        health.works(PART);
    }

    /// Relays the time until which this process may write, but not before its definitions are as
    /// desired. Never ends.
    pub(super) async fn relay(
        mut self,
        client: Client,
        mut until: watch::Receiver<Until>,
        permit: watch::Sender<Until>,
    ) {
        loop {
            for group in self.0.iter_mut().filter(|group| group.is_due) {
                if !group.is_written(&client, &until).await {
                    break;
                }
            }
            let led = *until.borrow_and_update();
            permit.send_replace(led.filter(|_| !self.are_due()));
            if until.changed().await.is_err() {
                return pending().await;
            }
        }
    }
}

/// Relays the time until which this process may write, but not before a task has ended. The task
/// makes progress only while this process leads. Never ends.
pub(super) async fn hold(
    mut first: BoxFuture<'static, ()>,
    mut until: watch::Receiver<Until>,
    permit: watch::Sender<Until>,
) {
    loop {
        leads(&mut until).await;
        let mut lease = until.clone();
        tokio::select! {
            biased;
            () = lost(&mut lease) => {}
            () = &mut first => break,
        }
    }
    loop {
        permit.send_replace(*until.borrow_and_update());
        if until.changed().await.is_err() {
            return pending().await;
        }
    }
}

impl Group {
    /// Returns once the kinds are served, written either by this process while it leads or by
    /// another process.
    async fn served(&mut self, client: &Client, until: &mut watch::Receiver<Until>) {
        let mut is_told = false;
        while !self.is_written(client, until).await {
            let served = crds::served(client, &self.kinds).await;
            if matches!(served, Ok(true)) {
                return;
            }
            if served.is_ok() && !is_told {
                is_told = true;
                let group = self.kinds.group_version;
                tracing::info!(
                    "the kinds of {group} are not served yet; waiting until the replica that leads has written them"
                );
            }
            tokio::select! {
                biased;
                () = leads(until) => {}
                () = sleep(PAUSE) => {}
            }
        }
    }

    /// Writes the differences and returns true if it did. Returns false if this process does not
    /// lead, or no longer leads.
    async fn is_written(&mut self, client: &Client, until: &watch::Receiver<Until>) -> bool {
        let (kinds, mut lease) = (self.kinds, until.clone());
        tokio::select! {
            biased;
            () = lost(&mut lease) => {}
            () = crds::prepare(client, &kinds, true) => self.is_due = false,
        }
        !self.is_due
    }
}

/// Returns once this process may write.
async fn leads(until: &mut watch::Receiver<Until>) {
    // An expired Lease remains in the channel until the expiry is noticed.
    let may_write = |until: &Until| until.is_some_and(|end| end > Instant::now());
    if until.wait_for(may_write).await.is_err() {
        pending::<()>().await;
    }
}

/// Returns once this process may not write.
async fn lost(until: &mut watch::Receiver<Until>) {
    loop {
        let Some(end) = *until.borrow_and_update() else {
            return;
        };
        tokio::select! {
            biased;
            changed = until.changed() => {
                if changed.is_err() {
                    return;
                }
            }
            () = sleep_until(end) => return,
        }
    }
}
