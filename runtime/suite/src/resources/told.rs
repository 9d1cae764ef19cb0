//! Run on a cluster where time cannot be skipped. At each settled point, waits until the cluster
//! matches the settled point of the same run on the simulated cluster.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::harness::Harness;
use super::invariant::Invariant;
use super::site;
use super::wire::wanted_of;

/// Time that a cluster may take to be empty again on a busy machine.
const CLEAR_WITHIN: Duration = Duration::from_secs(120);
/// Interval at which the run checks that the cluster is empty again.
const AGAIN: Duration = Duration::from_millis(25);
/// Time that the cluster must stay in a state before it counts as settled.
const HOLDS: Duration = Duration::from_millis(100);

impl Harness {
    /// Waits until everything matches this settled point of the other cluster, and stays so for a
    /// moment.
    pub(crate) async fn settle_as_told(&mut self) {
        if self.is_astray {
            return;
        }
        let wanted = self.told.as_mut().and_then(VecDeque::pop_front);
        let Some(wanted) = wanted else {
            self.astray("it settles once more than on the simulated cluster");
            return;
        };
        let limit = Instant::now() + self.core.patience;
        let mut since: Option<(Instant, (u64, usize))> = None;
        loop {
            let wires = self.all_wires();
            let asked = tokio::select! {
                biased;
                asked = wanted_of(&wires) => Some(asked),
                () = sleep(AGAIN) => None,
            };
            if let Some(asked) = asked {
                self.grant(asked).await;
                continue;
            }
            let now = (Instant::now(), self.activity());
            let is_there = self.faults.is_running()
                && self.key().await == wanted.key
                && self.observer.has_looked()
                && self.current_rest().await == wanted;
            since = since.filter(|(_, activity)| is_there && *activity == now.1);
            match since {
                Some((since, _)) if since.elapsed() >= HOLDS => return,
                Some(_) => {}
                None if is_there => since = Some(now),
                None if Instant::now() > limit => {
                    let rest = self.current_rest().await;
                    let unlike = rest.unlike(&wanted, &self.core.irs());
                    let why = unlike.unwrap_or_else(|| "it never settles".to_owned());
                    self.astray(&why);
                    return;
                }
                None => {}
            }
        }
    }

    fn astray(&mut self, why: &str) {
        self.is_astray = true;
        self.findings.clear();
        self.find(Invariant::SameEnd, why);
    }

    /// Returns the paths of all fixtures and of all written objects, including objects that another
    /// user created in place of ours.
    pub(crate) fn paths(&self) -> BTreeSet<String> {
        let given = self.core.fixtures.iter().map(|f| f.path.clone());
        let foreign = self.foreign.iter().cloned();
        let all = given.chain(foreign).chain(self.all_wrote().into_keys());
        all.map(|path| path.trim_end_matches("/status").to_owned())
            .collect()
    }

    /// Ends the process and leaves nothing behind, for the runs that come after on the same cluster.
    pub(crate) async fn clear(&mut self) -> Result<(), String> {
        if self.core.cluster.is_simulated() {
            return Ok(());
        }
        if let Some(running) = self.running.take() {
            running.abort();
            let _ = running.await.is_err();
        }
        let limit = Instant::now() + CLEAR_WITHIN;
        for path in self.paths() {
            while let Some(object) = self.read(&path).await? {
                if object.pointer("/metadata/finalizers").is_some() {
                    let free = json!({ "metadata": { "finalizers": null } });
                    // It may be gone by now.
                    let _ = site::patch(&self.admin, &path, &free).await.is_ok();
                }
                let _ = site::delete(&self.admin, &path).await.is_ok();
                if Instant::now() > limit {
                    return Err(format!("{path} cannot be deleted"));
                }
            }
        }
        drop(self.held.take());
        Ok(())
    }

    async fn read(&self, path: &str) -> Result<Option<Value>, String> {
        let object = site::get(&self.admin, path).await;
        object.map_err(|e| format!("{path} cannot be read: {e}"))
    }
}
