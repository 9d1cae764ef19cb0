//! Commands whose output differs between the two servers, each with the reason for keeping the
//! difference.

use anyhow::{Result, ensure};

/// Script, command, reason. A command that does not differ any more must go from the list.
const DIFFERENT: &[(&str, &str, &str)] = &[
    (
        "api",
        "kubectl get --raw /apis/listeners.stackable.tech/v1alpha1",
        "`storageVersionHash` is for controllers that migrate what is stored",
    ),
    (
        "api",
        "kubectl get --raw /apis/example.com/v1",
        "`storageVersionHash`, as above",
    ),
    (
        "rights",
        "kubectl auth whoami",
        "nobody shows a certificate to the simulated server",
    ),
    (
        "get",
        "kubectl get listeners -l 'app in'",
        "the words for label selectors that cannot be read are those of the real parser",
    ),
];

/// The known differences of one script.
pub(crate) struct Known {
    left: Vec<&'static str>,
}

impl Known {
    pub(crate) fn for_script(script: &str) -> Self {
        let of_script = DIFFERENT.iter().filter(|(name, _, _)| *name == script);
        Self {
            left: of_script.map(|(_, command, _)| *command).collect(),
        }
    }

    /// Returns true if this difference is in the list. Each entry stands for one command.
    pub(crate) fn explains(&mut self, command: &str) -> bool {
        let found = self.left.iter().position(|known| *known == command);
        found.map(|index| self.left.remove(index)).is_some()
    }

    pub(crate) fn check_used(&self) -> Result<()> {
        ensure!(
            self.left.is_empty(),
            "these do not differ any more, take them from the list: {:?}",
            self.left
        );
        Ok(())
    }
}
