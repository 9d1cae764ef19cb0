//! Objects that the last reconciliations report to be as desired, with their content on the server.

use serde_json::Value;

use super::Core;
use super::harness::Harness;
use super::site;
use lifecycle_runtime::lifecycle::Stored;
use lifecycle_runtime::machine::verdict::Verdict;

impl Core {
    /// Returns the path of an object of an input on the server.
    pub(crate) fn path_of(&self, input: usize, object: &Stored) -> Option<String> {
        self.path_in(0, input, object)
    }

    /// The same of an input of any of the lifecycles.
    fn path_in(&self, member: usize, input: usize, object: &Stored) -> Option<String> {
        let all = self.machines().nth(member)?.kind(input)?;
        let all = all.path(object.meta.namespace.as_deref());
        Some(format!("{all}/{}", object.meta.name.as_ref()?))
    }
}

impl Harness {
    /// Those of some inputs of a lifecycle, each with its input, its path and itself.
    pub(crate) async fn said_to_be_wanted(
        &self,
        member: usize,
        inputs: impl IntoIterator<Item = usize> + Clone,
    ) -> Vec<(usize, String, Value)> {
        let ir = self.core.irs()[member];
        let mut all = Vec::new();
        for last in self.last_of(member).into_values() {
            if last.failure.is_some() || last.deleting {
                continue;
            }
            for input in inputs.clone() {
                // An object that is created once is not compared.
                if ir.inputs[input].noted.is_some() {
                    continue;
                }
                // One of another owner that has the name of an unwanted one.
                if last.observation.is_hidden(input) {
                    continue;
                }
                let var = ir.verdict(input);
                let verdict = var.and_then(|var| ir.verdict_in(last.world(), var));
                if verdict != Some(Verdict::Current) {
                    continue;
                }
                for object in last.observation.objects(input) {
                    let Some(path) = self.core.path_in(member, input, object) else {
                        continue;
                    };
                    let live = site::get(&self.admin, &path).await.ok().flatten();
                    all.extend(live.map(|live| (input, path, live)));
                }
            }
        }
        all
    }
}
