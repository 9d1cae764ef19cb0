//! State of the calls to drivers: the running call, the outcome of the last one, and the time of
//! the next one. Calls about the same thing never overlap. Decides nothing, and sends nothing
//! itself.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use lifecycle_proto::csi;
use tokio::time::Instant;

use super::kinds::ObjectKey;

/// Subject of a call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum About {
    /// The process of a driver on a node.
    Plugin { node: String, driver: String },
    /// A PersistentVolume.
    Volume { name: String },
    /// A PersistentVolume on a node.
    Staged { node: String, volume: String },
    /// A PersistentVolume in a Pod, which is named by its uid.
    Published {
        node: String,
        volume: String,
        pod: String,
    },
}

/// Operation that a driver is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Look,
    Create,
    Delete,
    Stage,
    Unstage,
    Publish,
    Unpublish,
}

/// A call with all that it takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    pub(super) about: About,
    pub(super) driver: String,
    pub(super) job: Job,
}

/// The request of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Job {
    Look,
    Create(csi::CreateVolumeRequest),
    Delete(csi::DeleteVolumeRequest),
    Stage(csi::NodeStageVolumeRequest),
    Unstage(csi::NodeUnstageVolumeRequest),
    /// With the Pod that it is for.
    Publish(csi::NodePublishVolumeRequest, ObjectKey),
    Unpublish(csi::NodeUnpublishVolumeRequest),
}

impl Call {
    pub(super) fn verb(&self) -> Verb {
        match &self.job {
            Job::Look => Verb::Look,
            Job::Create(_) => Verb::Create,
            Job::Delete(_) => Verb::Delete,
            Job::Stage(_) => Verb::Stage,
            Job::Unstage(_) => Verb::Unstage,
            Job::Publish(..) => Verb::Publish,
            Job::Unpublish(_) => Verb::Unpublish,
        }
    }
}

impl Verb {
    /// How long a call may take: kubelet waits longer than external-provisioner.
    pub(super) fn limit(self) -> Duration {
        match self {
            Self::Look | Self::Create | Self::Delete => Duration::from_secs(10),
            Self::Stage | Self::Unstage | Self::Publish | Self::Unpublish => {
                Duration::from_secs(120)
            }
        }
    }

    /// Returns the delay after a number of consecutive failures.
    fn pause(self, failures: u32) -> Duration {
        let (first, longest) = match self {
            Self::Look => (100, 10_000),
            Self::Create | Self::Delete => (1_000, 10_000),
            Self::Stage | Self::Unstage | Self::Publish | Self::Unpublish => (500, 122_000),
        };
        let doubled = 1_u64.checked_shl(failures.saturating_sub(1).min(20));
        let wanted = doubled.unwrap_or(u64::MAX).saturating_mul(first);
        Duration::from_millis(wanted.min(longest))
    }
}

/// Answer of a driver.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    Nothing,
    Node(Node),
    Volume(Box<csi::Volume>),
}

/// Self-description of the process of a driver on a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Node {
    pub(super) id: String,
    pub(super) segments: BTreeMap<String, String>,
    pub(super) stages: bool,
    pub(super) tells_writers_apart: bool,
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// Message as kubelet and external-provisioner word it.
    pub(super) said: String,
    /// It will not go on behind our back.
    pub(super) is_final: bool,
    /// True if there is no room here, but perhaps elsewhere.
    pub(super) is_exhausted: bool,
}

/// Volume state on a node that is still to be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MountedVolume {
    pub(super) driver: String,
    /// The volume, as the driver knows it.
    pub(super) handle: String,
    pub(super) path: PathBuf,
    /// The Pod, if it is for one.
    pub(super) pod: Option<ObjectKey>,
    /// It is not known to be nothing.
    pub(super) may_be: bool,
}

/// Next step for a controller that needs a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextStep {
    /// The call finished this long ago.
    Done(Duration),
    /// A call is under way.
    Busy,
    /// Not before this time is over.
    Later(Duration),
    /// Now.
    Go,
}

#[derive(Debug, Default)]
struct CallState {
    running: Option<Verb>,
    done: Option<(Verb, Instant, Reply)>,
    failed: Option<(Verb, Failure)>,
    failures: u32,
    next: Option<Instant>,
    held: Option<MountedVolume>,
}

/// All that is known.
#[derive(Debug, Default)]
pub(super) struct Calls {
    entries: BTreeMap<About, CallState>,
}

impl Calls {
    pub(super) fn toward(&self, about: &About, verb: Verb, now: Instant) -> NextStep {
        let Some(entry) = self.entries.get(about) else {
            return NextStep::Go;
        };
        if entry.running.is_some() {
            return NextStep::Busy;
        }
        match (&entry.failed, entry.next, &entry.done) {
            (Some((failed, _)), Some(next), _) if *failed == verb && now < next => {
                NextStep::Later(next - now)
            }
            (Some((failed, _)), _, _) if *failed == verb => NextStep::Go,
            (_, _, Some((done, at, _))) if *done == verb => NextStep::Done(now - *at),
            (_, _, _) => NextStep::Go,
        }
    }

    /// Returns the answer of the last call, if it was this one and succeeded. Later failures of the
    /// same call do not revoke it.
    pub(super) fn reply(&self, about: &About, verb: Verb) -> Option<&Reply> {
        let (done, _, reply) = self.entries.get(about)?.done.as_ref()?;
        (*done == verb).then_some(reply)
    }

    pub(super) fn failure(&self, about: &About, verb: Verb) -> Option<&Failure> {
        let (failed, failure) = self.entries.get(about)?.failed.as_ref()?;
        (*failed == verb).then_some(failure)
    }

    /// Returns the driver process on a node, once it has reported its node information.
    pub(super) fn plugin(&self, node: &str, driver: &str) -> Option<&Node> {
        let about = About::Plugin {
            node: node.to_owned(),
            driver: driver.to_owned(),
        };
        match self.reply(&about, Verb::Look)? {
            Reply::Node(node) => Some(node),
            Reply::Nothing | Reply::Volume(_) => None,
        }
    }

    /// Returns the known volume state on nodes, with the parts to undo.
    pub(super) fn on_nodes(&self) -> impl Iterator<Item = (&About, &MountedVolume)> {
        let all = self.entries.iter();
        all.filter_map(|(about, entry)| Some((about, entry.held.as_ref()?)))
    }

    pub(super) fn is_busy(&self, about: &About) -> bool {
        let entry = self.entries.get(about);
        entry.is_some_and(|entry| entry.running.is_some())
    }

    /// Marks a call as started. The state is unknown until the call ends.
    pub(super) fn begin(&mut self, call: &Call) {
        let verb = call.verb();
        let entry = self.entries.entry(call.about.clone()).or_default();
        entry.running = Some(verb);
        if entry.failed.as_ref().is_some_and(|(v, _)| *v != verb) {
            entry.failed = None;
            entry.failures = 0;
        }
        if let Some(held) = mounted_volume(call) {
            entry.held = Some(held);
        }
    }

    /// A call has ended.
    pub(super) fn end(
        &mut self,
        about: &About,
        verb: Verb,
        outcome: Result<Reply, Failure>,
        now: Instant,
    ) {
        let Some(entry) = self.entries.get_mut(about) else {
            return;
        };
        entry.running = None;
        let was_done = entry.done.as_ref().is_some_and(|(v, _, _)| *v == verb);
        match outcome {
            Ok(_) if matches!(verb, Verb::Unpublish | Verb::Unstage) => {
                self.entries.remove(about);
            }
            Ok(reply) => {
                entry.done = Some((verb, now, reply));
                entry.failed = None;
                entry.failures = 0;
            }
            Err(failure) => {
                entry.failures += 1;
                entry.next = Some(now + verb.pause(entry.failures));
                if !was_done {
                    entry.done = None;
                }
                let is_begun = matches!(verb, Verb::Publish | Verb::Stage);
                if is_begun && failure.is_final && !was_done {
                    entry.held.iter_mut().for_each(|held| held.may_be = false);
                }
                entry.failed = Some((verb, failure));
            }
        }
    }

    pub(super) fn forget(&mut self, about: &About) {
        self.entries.remove(about);
    }
}

fn mounted_volume(call: &Call) -> Option<MountedVolume> {
    let (handle, path, pod) = match &call.job {
        Job::Stage(r) => (&r.volume_id, &r.staging_target_path, None),
        Job::Publish(r, pod) => (&r.volume_id, &r.target_path, Some(pod.clone())),
        Job::Look | Job::Create(_) | Job::Delete(_) | Job::Unstage(_) | Job::Unpublish(_) => {
            return None;
        }
    };
    Some(MountedVolume {
        driver: call.driver.clone(),
        handle: handle.clone(),
        path: PathBuf::from(path),
        pod,
        may_be: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn staged_volume() -> About {
        About::Staged {
            node: "n".to_owned(),
            volume: "v".to_owned(),
        }
    }

    fn stage() -> Call {
        Call {
            about: staged_volume(),
            driver: "d".to_owned(),
            job: Job::Stage(csi::NodeStageVolumeRequest::default()),
        }
    }

    fn failure(is_final: bool) -> Failure {
        Failure {
            said: "no".to_owned(),
            is_final,
            is_exhausted: false,
        }
    }

    #[test]
    fn failures_put_the_next_call_off_and_the_opposite_begins_at_once() {
        let (mut calls, now) = (Calls::default(), Instant::now());
        assert_eq!(
            calls.toward(&staged_volume(), Verb::Stage, now),
            NextStep::Go
        );
        for pause in [500, 1_000, 2_000] {
            calls.begin(&stage());
            assert_eq!(
                calls.toward(&staged_volume(), Verb::Unstage, now),
                NextStep::Busy
            );
            calls.end(&staged_volume(), Verb::Stage, Err(failure(false)), now);
            let pause = Duration::from_millis(pause);
            let toward = calls.toward(&staged_volume(), Verb::Stage, now);
            assert_eq!(toward, NextStep::Later(pause));
            let toward = calls.toward(&staged_volume(), Verb::Stage, now + pause);
            assert_eq!(toward, NextStep::Go);
            assert_eq!(
                calls.toward(&staged_volume(), Verb::Unstage, now),
                NextStep::Go
            );
        }
    }

    #[test]
    fn what_failed_for_good_leaves_nothing_to_undo_unless_it_was_there_before() {
        let (mut calls, now) = (Calls::default(), Instant::now());
        let is_held = |calls: &Calls| calls.on_nodes().any(|(_, held)| held.may_be);
        calls.begin(&stage());
        calls.end(&staged_volume(), Verb::Stage, Err(failure(false)), now);
        assert!(is_held(&calls), "nobody knows");
        calls.begin(&stage());
        calls.end(&staged_volume(), Verb::Stage, Err(failure(true)), now);
        assert!(!is_held(&calls));
        calls.begin(&stage());
        calls.end(&staged_volume(), Verb::Stage, Ok(Reply::Nothing), now);
        calls.begin(&stage());
        calls.end(&staged_volume(), Verb::Stage, Err(failure(true)), now);
        assert!(is_held(&calls) && calls.reply(&staged_volume(), Verb::Stage).is_some());
        calls.end(&staged_volume(), Verb::Unstage, Ok(Reply::Nothing), now);
        assert_eq!(calls.on_nodes().count(), 0);
    }
}
