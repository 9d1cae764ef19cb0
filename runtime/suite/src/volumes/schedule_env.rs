//! Environment of one schedule: a copy of the prepared cluster, and the processes of the driver
//! behind faults.

use std::sync::{Arc, Mutex};

use kube::Client;
use lifecycle_runtime::lifecycle::CreatedVolume;
use lifecycle_simulator::User;

use super::apply::{apply, delete};
use super::beside::Companions;
use super::process::{EffectLog, Processes};
use super::schedule::Schedule;
use super::snapshot::Snapshot;
use super::test_env::TestEnv;
use crate::faults::Faults;

/// One schedule's cluster, folder and processes.
pub(super) struct ScheduleEnv<'a> {
    pub(super) base: &'a TestEnv<'a>,
    pub(super) admin: Client,
    pub(super) faults: Faults,
    /// Effects that ran outside the API server.
    pub(super) effects: EffectLog,
    pub(super) processes: Processes<'a>,
    pub(super) beside: Companions,
}

impl<'a> ScheduleEnv<'a> {
    /// Creates a fresh environment. Must be called within a runtime.
    pub(super) fn new(base: &'a TestEnv<'a>, schedule: &Schedule) -> Result<Self, String> {
        base.reset_folder()?;
        let admin = base.server.copy().client(&User::admin());
        let faults = Faults::new(schedule.plan_of(0), jiff::Timestamp::UNIX_EPOCH);
        let effects: EffectLog = Arc::new(Mutex::new(Vec::new()));
        let start = (base.start, base.folder());
        let log = Arc::clone(&effects);
        let processes = Processes::new(start, admin.clone(), faults.clone(), log)?;
        let beside = Companions::start(base.members, &admin, |number| schedule.plan_of(number))?;
        Ok(Self {
            base,
            admin,
            faults,
            effects,
            processes,
            beside,
        })
    }

    /// Writes the objects of a created volume, as external-provisioner does.
    pub(super) async fn write_down(&self, made: &CreatedVolume) -> Result<(), String> {
        for object in (self.base.fixture.written)(made) {
            apply(&self.admin, &object).await?;
        }
        Ok(())
    }

    /// Deletes the objects that were written for a deleted volume.
    pub(super) async fn strike_out(&self, made: &CreatedVolume) -> Result<(), String> {
        for object in (self.base.fixture.written)(made) {
            delete(&self.admin, &object).await?;
        }
        Ok(())
    }

    /// The claim and the Pods go.
    pub(super) async fn clear(&self) -> Result<(), String> {
        for object in self.base.fixture.goes.iter().rev() {
            delete(&self.admin, object).await?;
        }
        Ok(())
    }

    /// Takes a snapshot of the current objects and files.
    pub(super) async fn snapshot(&self) -> Result<Snapshot, String> {
        Snapshot::take(&self.admin, &self.base.kinds, self.base.folder()).await
    }
}
