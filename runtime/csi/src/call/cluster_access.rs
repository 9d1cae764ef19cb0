//! How the calls of one volume lifecycle reach objects of the cluster.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use kube::Client;
use lifecycle_runtime::cluster::store::Name;
use lifecycle_runtime::lifecycle::Kind;
use lifecycle_runtime::machine::ir::Code;

use super::shared_watches::SharedWatches;
use crate::code::RpcError;
use crate::driver::cache_policy::CachePolicy;

/// How the calls of one volume lifecycle reach their objects.
pub(crate) struct ClusterAccess {
    pub(crate) client: Option<Client>,
    /// Each kind once.
    pub(crate) kinds: Vec<Kind>,
    /// The position in `kinds` of each input that has a kind.
    pub(crate) kind_of_input: Vec<Option<usize>>,
    pub(crate) shared_watches: Arc<SharedWatches>,
    /// For each kind, true if the first read also starts a watch.
    pub(crate) watches_on_read: Vec<bool>,
    /// For each kind, true if a publish call reuses the objects that the stage call has just read.
    pub(crate) reuses_after_stage: Vec<bool>,
    /// For each kind, true if a repeated publish call reuses the objects read before.
    pub(crate) remembers_for_repeats: Vec<bool>,
    /// Namespaces whose claims get volumes. Empty means all namespaces.
    pub(crate) namespaces: BTreeSet<String>,
    /// True if the server does not report absence through a watch.
    pub(crate) cannot_watch_on_read: AtomicBool,
}

impl ClusterAccess {
    /// Access to the kinds of the inputs, `None` for an input without one.
    pub(crate) fn new(
        (client, namespaces): (Option<Client>, &BTreeSet<String>),
        input_kinds: &[Option<Kind>],
        policy: &CachePolicy,
    ) -> Self {
        let mut kinds = Vec::<Kind>::new();
        let kind_of_input = input_kinds.iter().map(|kind| {
            let kind = kind.as_ref()?;
            let known = kinds.iter().position(|known| known.shares_cache(kind));
            Some(known.unwrap_or_else(|| {
                kinds.push(kind.clone());
                kinds.len() - 1
            }))
        });
        let kind_of_input = kind_of_input.collect();
        Self {
            client,
            watches_on_read: kinds.iter().map(|k| policy.watches_on_read(k)).collect(),
            reuses_after_stage: kinds.iter().map(|k| policy.reuses_after_stage(k)).collect(),
            remembers_for_repeats: kinds
                .iter()
                .map(|k| policy.remembers_for_repeats(k))
                .collect(),
            kinds,
            kind_of_input,
            shared_watches: Arc::new(SharedWatches::new(policy.watched.clone(), namespaces)),
            namespaces: namespaces.clone(),
            cannot_watch_on_read: AtomicBool::new(false),
        }
    }

    /// Why a volume that needs this object is not made: it is in a namespace that the process is not for. `None`: it may be read.
    pub(crate) fn outside(&self, kind: &Kind, name: &Name) -> Option<RpcError> {
        let namespace = name.namespace.as_ref().filter(|_| kind.namespaced)?;
        if self.namespaces.is_empty() || self.namespaces.contains(namespace) {
            return None;
        }
        let object = name.of_kind(kind);
        let message = format!(
            "{object} is outside of the namespaces that this operator watches: add `{namespace}` to --watch-namespaces"
        );
        Some(RpcError::new(Code::FailedPrecondition, message))
    }

    /// Returns true if a repeated publish call reuses any object.
    pub(crate) fn remembers(&self) -> bool {
        self.remembers_for_repeats.contains(&true)
    }
}
