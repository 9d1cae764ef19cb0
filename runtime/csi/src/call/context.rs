//! Context that all calls of one volume lifecycle share: the machine, its names, its cluster, and
//! the snapshots that staging leaves for publishing. Reports unsupported declarations at startup.

use std::sync::{Arc, Mutex, PoisonError};

use rand::Rng;
use rand::rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::cluster_access::ClusterAccess;
use super::publications::Publications;
use super::staged_snapshots::StagedSnapshots;
use super::unsupported::unsupported;
use crate::error::Error;
use crate::served_volume::ServedVolume;
use lifecycle_runtime::cluster::index::Finder;
use lifecycle_runtime::lifecycle::{Kind, Machine};
use lifecycle_runtime::machine::ir::{Call, Lifecycle, Rpc};
use lifecycle_runtime::operator::Naming;
use lifecycle_runtime::provider::Provider;
use lifecycle_runtime::service::Context;
use lifecycle_runtime::shutdown::Shutdown;

/// Context that all calls of one volume lifecycle share.
pub(crate) struct CallContext {
    pub(super) machine: Arc<dyn Machine>,
    pub(super) naming: Naming,
    pub(crate) cluster: ClusterAccess,
    pub(super) staged: StagedSnapshots,
    pub(super) published: Publications,
    /// The kind of each input that has one.
    pub(super) input_kinds: Vec<Option<Kind>>,
    pub(super) finders: Vec<Option<Finder>>,
    /// The provider of each input that names one.
    pub(super) providers: Vec<Option<Arc<Provider>>>,
    random: Mutex<Pcg64Mcg>,
    pub(super) shutdown: Shutdown,
}

impl CallContext {
    /// # Errors
    /// Calls do not support something that the lifecycle declares.
    pub(crate) fn new(served: &ServedVolume, context: &Context) -> Result<Self, Error> {
        let machine = Arc::clone(&served.machine);
        let ir = machine.ir();
        let (mut input_kinds, mut finders) = (Vec::new(), Vec::new());
        for (number, input) in ir.inputs.iter().enumerate() {
            let kind = machine.kind(number);
            if let Some(why) = unsupported(input, kind.as_ref(), context.client.is_some()) {
                let lifecycle = ir.name;
                return Err(Error::Unsupported { lifecycle, why });
            }
            finders.push(kind.as_ref().map(|kind| Finder {
                input,
                number,
                by_namespace: false,
                namespaced: kind.namespaced,
            }));
            input_kinds.push(kind);
        }
        let (client, policy) = (context.client.clone(), &served.driver.cache_policy);
        Ok(Self {
            machine,
            naming: served.naming.clone(),
            cluster: ClusterAccess::new((client, &context.namespaces), &input_kinds, policy),
            staged: StagedSnapshots::default(),
            published: Publications::default(),
            input_kinds,
            finders,
            providers: ir
                .inputs
                .iter()
                .map(|input| Some(context.providers.named(input.provider?)))
                .collect(),
            random: Mutex::new(Pcg64Mcg::seed_from_u64(context.seed)),
            shutdown: context.shutdown.clone(),
        })
    }

    pub(crate) fn ir(&self) -> &'static Lifecycle {
        self.machine.ir()
    }

    pub(crate) fn machine(&self) -> &dyn Machine {
        &*self.machine
    }

    pub(crate) fn shared_machine(&self) -> Arc<dyn Machine> {
        Arc::clone(&self.machine)
    }

    /// Returns the declaration of a call.
    pub(crate) fn declared(&self, rpc: Rpc) -> Option<(usize, &'static Call)> {
        let mut calls = self.ir().calls.iter().enumerate();
        calls.find(|(_, call)| call.rpc == rpc)
    }

    pub(super) fn random(&self) -> u64 {
        let random = self.random.lock();
        random.unwrap_or_else(PoisonError::into_inner).next_u64()
    }
}
