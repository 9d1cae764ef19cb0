//! While an object is suspended, its driver sends no query outside Kubernetes, no matter how long
//! that lasts.

use std::time::Duration;

use lifecycle_oracle::meaning::Named;
use tokio::time::Instant;

use super::Run;
use crate::watched::Pass;

/// Time in which an earlier query may be sent once more while it is being withdrawn.
const MOMENT: Duration = Duration::from_secs(1);

impl Run<'_> {
    /// Notes since when it is.
    pub(super) fn note_suspension(&mut self, pass: &Pass) {
        let suspended = self.meaning.is_suspended(&pass.world);
        self.suspended = suspended.then(|| self.suspended.unwrap_or_else(Instant::now));
    }

    /// Returns true if a deletion waits until a user ends the suspension.
    pub(super) fn is_held_up(&mut self) -> bool {
        let world = self.world();
        world.is_some_and(|world| self.meaning.is_suspended(&world))
    }

    /// Checks, once settled, that no query was sent since then.
    pub(super) fn asks_nobody(&mut self, world: &Named) {
        let Some(since) = self.suspended.filter(|_| self.meaning.is_suspended(world)) else {
            return;
        };
        self.ran.suspended += 1;
        let asked = self.machine.outside.state().asked;
        if let Some(asked) = asked.filter(|asked| *asked > since + MOMENT) {
            let late = asked - since;
            self.find(format!(
                "a question: somebody outside is asked {late:?} after the object was suspended"
            ));
        }
    }
}
